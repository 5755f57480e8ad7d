#include "mpi/policies/digests/digest.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <vector>

#include "mpi/handles/datatypes/type_facts.hpp"

namespace resprout::shim {
namespace {

constexpr std::size_t piece_bytes = std::size_t{64} << 10;

// Stays in the nearest cache.
using PackingRoom = std::array<std::byte, std::size_t{8} << 10>;

// What a Digester says of them, quicker where they are few.
Digest128 digest_of_bytes(std::span<const std::byte> data) {
  return xxh3().digest_of(data.data(), data.size());
}

// Packed data go in, in pieces of any size; padding is left out.
class Digester {
 public:
  Digester() { xxh3().reset(state_); }

  // How what is added from now on is padded, up to the next call.
  void begin(const Padding& padding) {
    padding_ = padding;
    run_ = 0;
    position_ = 0;
  }

  void add(std::span<const std::byte> data) {
    if (!padding_.has_any()) return update(data);
    while (!data.empty()) {
      const Padding::Run& run = padding_.runs()[run_];
      const auto part = data.first(std::min(run.bytes - position_, data.size()));
      if (run.counts) update(part);
      position_ += part.size();
      data = data.subspan(part.size());
      if (position_ < run.bytes) continue;
      run_ = (run_ + 1) % padding_.runs().size();
      position_ = 0;
    }
  }

  Digest128 digest() const { return xxh3().digest(state_); }

 private:
  void update(std::span<const std::byte> data) { xxh3().update(state_, data.data(), data.size()); }

  Xxh3::State state_;
  Padding padding_;
  std::size_t run_ = 0;
  std::size_t position_ = 0;  // in that
};

// The first `bytes` packed bytes of a buffer with gaps, packed piece by piece by MPI.
void add_pieces(Digester& digester, const void* buffer, const Layout& layout, std::size_t bytes) {
  if (bytes == 0) return;
  MPI_Aint lb = 0;
  MPI_Aint extent = 0;
  PMPI_Type_get_extent(layout.datatype, &lb, &extent);
  const std::size_t element = layout.packed_bytes / static_cast<std::size_t>(layout.count);
  const auto elements = static_cast<std::int64_t>(std::max(std::size_t{1}, piece_bytes / element));
  Layout piece = layout;
  std::vector<std::byte> storage;
  const auto* from = static_cast<const std::byte*>(buffer);
  for (std::int64_t done = 0; bytes > 0; done += piece.count) {
    piece.count = std::min(elements, layout.count - done);
    piece.packed_bytes = element * static_cast<std::size_t>(piece.count);
    auto data = packed(from + extent * done, piece, storage);
    data = data.first(std::min(data.size(), bytes));
    digester.add(data);
    bytes -= data.size();
  }
}

void add_pieces(Digester& digester, PackedPieces pieces) {
  PackingRoom room;
  for (auto data = pieces.next(room); !data.empty(); data = pieces.next(room)) digester.add(data);
}

// A packer if there is one, and need of it.
void add(Digester& digester, const TypePacker* packer, const void* buffer, const Layout& layout,
         std::size_t bytes) {
  if (layout.is_dense) return digester.add({static_cast<const std::byte*>(buffer), bytes});
  if (packer != nullptr) return add_pieces(digester, {*packer, buffer, bytes});
  add_pieces(digester, buffer, layout, bytes);
}

const TypePacker* packer_for(const Layout& layout) {
  return layout.is_dense ? nullptr : packer_of(layout.datatype);
}

}  // namespace

std::string to_text(const Digest128& digest) {
  char text[33];
  std::snprintf(text, sizeof(text), "%016llx%016llx", static_cast<unsigned long long>(digest.high),
                static_cast<unsigned long long>(digest.low));
  return text;
}

Digest128 digest_of(const void* buffer, int count, MPI_Datatype datatype) {
  return digest_of(buffer, layout_of(datatype, count));
}

Digest128 digest_of(const void* buffer, const Layout& layout) {
  return digest_of_received(buffer, layout, layout.packed_bytes);
}

Digest128 digest_of_received(const void* buffer, const Layout& layout, std::size_t bytes) {
  const Padding& padding = facts_of(layout.datatype).padding;
  if (layout.is_dense && !padding.has_any())
    return digest_of_bytes({static_cast<const std::byte*>(buffer), bytes});
  const TypePacker* packer = packer_for(layout);
  PackingRoom room;
  if (packer != nullptr && bytes <= room.size() && !padding.has_any())
    return digest_of_bytes(PackedPieces(*packer, buffer, bytes).next(room));
  Digester digester;
  digester.begin(padding);
  add(digester, packer, buffer, layout, bytes);
  return digester.digest();
}

Digest128 digest_of(std::span<const Piece> pieces) {
  Digester digester;
  for (const Piece& piece : pieces) {
    digester.begin(facts_of(piece.layout.datatype).padding);
    add(digester, packer_for(piece.layout), piece.buffer, piece.layout, piece.layout.packed_bytes);
  }
  return digester.digest();
}

Digest128 digest_of_packed(std::span<const std::byte> data, const Padding& padding) {
  if (!padding.has_any()) return digest_of_bytes(data);
  Digester digester;
  digester.begin(padding);
  digester.add(data);
  return digester.digest();
}

Digest128 digest_of_packed(std::span<const std::byte> data, std::span<const Piece> pieces) {
  Digester digester;
  for (const Piece& piece : pieces) {
    const auto part = data.first(std::min(piece.layout.packed_bytes, data.size()));
    digester.begin(facts_of(piece.layout.datatype).padding);
    digester.add(part);
    data = data.subspan(part.size());
  }
  digester.add(data);
  return digester.digest();
}

}  // namespace resprout::shim
