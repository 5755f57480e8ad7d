#include "mpi/policies/digests/xxh3.hpp"

#include <algorithm>
#include <array>
#include <random>
#include <vector>

#include "doctest/doctest.h"

using namespace resprout::shim;

namespace {

std::vector<std::byte> random_bytes(std::size_t count) {
  std::mt19937 random(static_cast<unsigned>(count));
  std::vector<std::byte> bytes(count);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

// In pieces of growing size.
Digest128 in_pieces(const Xxh3& by, const std::vector<std::byte>& bytes) {
  Xxh3::State state;
  by.reset(state);
  std::size_t done = 0;
  for (std::size_t piece = 1; done < bytes.size(); piece = piece * 2 + 1) {
    const std::size_t part = std::min(piece, bytes.size() - done);
    by.update(state, bytes.data() + done, part);
    done += part;
  }
  return by.digest(state);
}

#if defined(__x86_64__)
struct UpperHalves {
  std::array<std::byte, 16 * 16> bytes;

  // Of the vectors of 256 bits, as they are.
  [[gnu::always_inline]] void store() {
    asm volatile(
        "vextractf128 $1, %%ymm0, 0(%0)\n vextractf128 $1, %%ymm1, 16(%0)\n"
        "vextractf128 $1, %%ymm2, 32(%0)\n vextractf128 $1, %%ymm3, 48(%0)\n"
        "vextractf128 $1, %%ymm4, 64(%0)\n vextractf128 $1, %%ymm5, 80(%0)\n"
        "vextractf128 $1, %%ymm6, 96(%0)\n vextractf128 $1, %%ymm7, 112(%0)\n"
        "vextractf128 $1, %%ymm8, 128(%0)\n vextractf128 $1, %%ymm9, 144(%0)\n"
        "vextractf128 $1, %%ymm10, 160(%0)\n vextractf128 $1, %%ymm11, 176(%0)\n"
        "vextractf128 $1, %%ymm12, 192(%0)\n vextractf128 $1, %%ymm13, 208(%0)\n"
        "vextractf128 $1, %%ymm14, 224(%0)\n vextractf128 $1, %%ymm15, 240(%0)\n"
        :
        : "r"(bytes.data())
        : "memory");
  }
  bool are_zero() const {
    return std::ranges::all_of(bytes, [](std::byte byte) { return byte == std::byte{0}; });
  }
};
#endif

}  // namespace

TEST_CASE("digests of 128 bits are those of xxhsum -H2") {
  CHECK(xxh3_plain.digest_of("", 0) == Digest128{0x99aa06d3014798d8, 0x6001c324468d497f});
  CHECK(xxh3_plain.digest_of("abc", 3) == Digest128{0x06b05ab6733a6185, 0x78af5f94892f3950});
}

TEST_CASE("whatever vectors a processor has, the digest is the same") {
  for (const std::size_t count : {0, 1, 16, 17, 128, 129, 240, 241, 1000, 4096, 100'000}) {
    CAPTURE(count);
    const auto bytes = random_bytes(count);
    const Digest128 expected = xxh3_plain.digest_of(bytes.data(), count);
    CHECK(xxh3().digest_of(bytes.data(), count) == expected);
    CHECK(in_pieces(xxh3_plain, bytes) == expected);
    CHECK(in_pieces(xxh3(), bytes) == expected);
  }
}

#if defined(__x86_64__)
TEST_CASE("no upper halves of vectors are left in use, which would slow the program down") {
  if (&xxh3() != xxh3_avx2) return;
  const auto bytes = random_bytes(5000);
  UpperHalves after;
  Xxh3::State state;
  xxh3_avx2->digest_of(bytes.data(), bytes.size());
  after.store();
  CHECK(after.are_zero());
  xxh3_avx2->reset(state);
  after.store();
  CHECK(after.are_zero());
  xxh3_avx2->update(state, bytes.data(), bytes.size());
  after.store();
  CHECK(after.are_zero());
  xxh3_avx2->digest(state);
  after.store();
  CHECK(after.are_zero());
}
#endif
