// News between lifelines (runtime/lifeline/news.hpp): whatever bytes come, in whatever pieces, the
// same is read, and a message of the membership that makes sense is what would be said for it.
#include <cstring>

#include "pieces.hpp"
#include "runtime/lifeline/news.hpp"
#include "runtime/net/membership_bytes.hpp"

namespace {

using namespace resprout::runtime;
using resprout::fuzz::read_in_pieces;
using resprout::fuzz::require;
using Message = resprout::protocols::LargeMembership::Message;

// All that is said, and whether nothing senseless comes after it.
bool read(std::span<const std::uint8_t> bytes, std::size_t piece, std::vector<Said>& said) {
  return read_in_pieces(bytes, piece, [&](auto some) { return read_news(some, said); });
}

void check_message(std::span<const std::uint8_t> bytes) {
  ByteReader reader(bytes);
  Message message;
  if (!reader.message(message) || !reader.is_at_end()) return;
  ByteWriter writer;
  writer.message(message);
  require(writer.bytes.size() <= bytes.size());
  ByteReader again(writer.bytes);
  Message same;
  require(again.message(same) && again.is_at_end() && same == message);
}

}  // namespace

// The first byte is the size of the pieces in which the others come; 0: all at once.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::span<const std::uint8_t> bytes(data + 1, size - 1);
  std::vector<Said> at_once;
  std::vector<Said> in_pieces;
  const bool is_good = read(bytes, bytes.size(), at_once);
  require(read(bytes, data[0] == 0 ? bytes.size() : data[0], in_pieces) == is_good);
  require(in_pieces.size() == at_once.size());
  for (std::size_t i = 0; i < at_once.size(); ++i) {
    require(std::memcmp(&at_once[i].news, &in_pieces[i].news, sizeof(News)) == 0);
    require(at_once[i].message == in_pieces[i].message);
    require(at_once[i].message.size() <= message_bytes_max);
    check_message(at_once[i].message);
  }
  return 0;
}
