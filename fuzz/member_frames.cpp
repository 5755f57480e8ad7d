// Frames between members (runtime/member/wire.hpp): whatever bytes come, in whatever pieces, the
// same frames are read, and what is read is what would be said for it.
#include "pieces.hpp"
#include "runtime/member/wire.hpp"

namespace {

using resprout::fuzz::read_in_pieces;
using resprout::fuzz::require;
using resprout::runtime::member::Bytes;
using resprout::runtime::member::decode;
using resprout::runtime::member::decode_all;
using resprout::runtime::member::encode;
using resprout::runtime::member::Frame;

// All frames, and whether nothing senseless comes after them.
bool read(std::span<const std::uint8_t> bytes, std::size_t piece, std::vector<Frame>& frames) {
  return read_in_pieces(bytes, piece, [&](auto some) { return decode_all(some, frames); });
}

}  // namespace

// The first byte is the size of the pieces in which the others come; 0: all at once.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::span<const std::uint8_t> bytes(data + 1, size - 1);
  std::vector<Frame> at_once;
  std::vector<Frame> in_pieces;
  const bool is_good = read(bytes, bytes.size(), at_once);
  require(read(bytes, data[0] == 0 ? bytes.size() : data[0], in_pieces) == is_good);
  require(in_pieces.size() == at_once.size());
  for (std::size_t i = 0; i < at_once.size(); ++i) {
    const Bytes said = encode(at_once[i]);
    require(said == encode(in_pieces[i]));
    const auto again = decode(std::span(said).subspan(4));
    require(again && again->message == at_once[i].message && encode(*again) == said);
  }
  return 0;
}
