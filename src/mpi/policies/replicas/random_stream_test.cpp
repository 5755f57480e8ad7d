#include "mpi/policies/replicas/random_stream.hpp"

#include <vector>

#include "doctest/doctest.h"

using namespace resprout::shim;

namespace {

RandomStream::Key key_of(std::uint8_t last) {
  RandomStream::Key key{};
  key.back() = last;
  return key;
}

std::vector<int> bytes_of(RandomStream& stream, std::size_t count) {
  std::vector<std::byte> bytes(count);
  stream.fill(bytes);
  std::vector<int> numbers;
  for (const std::byte byte : bytes) numbers.push_back(std::to_integer<int>(byte));
  return numbers;
}

}  // namespace

TEST_CASE("the stream is that of RFC 8439, appendix A.1") {
  RandomStream zeros(key_of(0), 0);
  const std::vector<int> first = bytes_of(zeros, 64);
  CHECK(std::vector<int>(first.begin(), first.begin() + 8) ==
        std::vector{0x76, 0xb8, 0xe0, 0xad, 0xa0, 0xf1, 0x3d, 0x90});
  CHECK(std::vector<int>(first.end() - 4, first.end()) == std::vector{0xb2, 0xee, 0x65, 0x86});
  // Its second block, test vector 2.
  CHECK(bytes_of(zeros, 8) == std::vector{0x9f, 0x07, 0xe7, 0xbe, 0x55, 0x51, 0x38, 0x7a});
  RandomStream one(key_of(1), 0);
  bytes_of(one, 64);  // test vector 3 is of its second block
  CHECK(bytes_of(one, 4) == std::vector{0x3a, 0xeb, 0x52, 0x24});
}

TEST_CASE("pieces of any size are the same stream, and other nonces others") {
  RandomStream whole(key_of(7), 3);
  RandomStream pieces(key_of(7), 3);
  RandomStream other(key_of(7), 4);
  const std::vector<int> all = bytes_of(whole, 200);
  std::vector<int> found;
  for (const std::size_t size : {1, 62, 3, 0, 134})
    for (const int byte : bytes_of(pieces, size)) found.push_back(byte);
  CHECK(found == all);
  CHECK(bytes_of(other, 200) != all);
}
