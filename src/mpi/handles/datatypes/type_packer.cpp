#include "mpi/handles/datatypes/type_packer.hpp"

#include <algorithm>
#include <cstring>

#include "mpi/handles/datatypes/type_size.hpp"

namespace resprout::shim {
namespace {

constexpr std::size_t most_rows = std::size_t{1} << 16;
constexpr std::size_t most_bytes = std::size_t{8}
                                   << 20;  // of an element, so of its blocks before they are rows
constexpr std::size_t small_bytes = 256;
constexpr std::size_t fewest_listed = 4;  // rows

using Row = TypePacker::Row;

bool goes_on(const Row& row, const TypeBlock& next) {
  if (row.bytes != static_cast<std::size_t>(next.bytes)) return false;
  return row.count == 1 || row.at + *row.step * static_cast<MPI_Aint>(row.count) == next.at;
}

std::vector<Row> rows_of(const std::vector<TypeBlock>& blocks) {
  std::vector<Row> rows;
  for (const TypeBlock& next : blocks) {
    if (rows.size() > most_rows) break;  // too many, however many they are
    if (rows.empty() || !goes_on(rows.back(), next)) {
      rows.push_back({next.at, static_cast<std::size_t>(next.bytes), 0, 1});
      continue;
    }
    Row& row = rows.back();
    if (row.count == 1) row.step = next.at - row.at;
    ++row.count;
  }
  return rows;
}

// A loop for it takes longer than its words do.
bool is_small(const Row& row) { return row.bytes % 4 == 0 && row.bytes * row.count <= small_bytes; }

// Blocks that are a byte before each other are not there to Open MPI 5, but where they would be
// without gaps.
bool is_misread(const Row& row) { return row.count > 1 && row.step == -1; }

// Of a length that the compiler knows.
template <std::size_t bytes>
void copy_blocks(std::byte* to, const std::byte* from, MPI_Aint step, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i, to += bytes, from += step) std::memcpy(to, from, bytes);
}

template <std::size_t bytes>
void copy_words(std::byte* to, const std::byte* element, const MPI_Aint* places,
                std::size_t count) {
  for (std::size_t i = 0; i < count; ++i, to += bytes) std::memcpy(to, element + places[i], bytes);
}

}  // namespace

TypePacker::TypePacker(const std::vector<TypeBlock>& blocks, MPI_Aint extent) : extent_(extent) {
  const std::vector<Row> rows = rows_of(blocks);
  for (auto at = rows.begin(); at != rows.end();) {
    const auto end = std::find_if_not(at, rows.end(), is_small);
    if (end - at < static_cast<std::ptrdiff_t>(fewest_listed)) {
      rows_.push_back(*at++);
      continue;
    }
    rows_.push_back(listed({at, end}));
    at = end;
  }
}

Row TypePacker::listed(std::span<const Row> rows) {
  const bool are_long =
      std::ranges::all_of(rows, [](const Row& row) { return row.bytes % 8 == 0; });
  const std::size_t word = are_long ? 8 : 4;
  const std::size_t first = places_.size();
  for (const Row& row : rows)
    for (std::size_t block = 0; block < row.count; ++block)
      for (std::size_t byte = 0; byte < row.bytes; byte += word)
        places_.push_back(place_of(row, block) + static_cast<MPI_Aint>(byte));
  return {static_cast<MPI_Aint>(first), word, std::nullopt, places_.size() - first};
}

std::unique_ptr<const TypePacker> TypePacker::of(MPI_Datatype datatype) {
  if (size_of_type(datatype) > most_bytes) return nullptr;
  const auto blocks = blocks_of(datatype);
  if (!blocks) return nullptr;
  MPI_Aint lb = 0;
  MPI_Aint extent = 0;
  PMPI_Type_get_extent(datatype, &lb, &extent);
  auto packer = std::make_unique<const TypePacker>(*blocks, extent);
  if (packer->rows().size() + packer->places().size() > most_rows) return nullptr;
  return std::ranges::any_of(packer->rows(), is_misread) ? nullptr : std::move(packer);
}

void PackedPieces::copy(std::byte* to, const Row& row, std::size_t blocks) const {
  if (!row.step) {
    const MPI_Aint* places = &packer_.places()[static_cast<std::size_t>(row.at) + done_];
    return row.bytes == 8 ? copy_words<8>(to, element_, places, blocks)
                          : copy_words<4>(to, element_, places, blocks);
  }
  const std::byte* from = element_ + packer_.place_of(row, done_);
  switch (row.bytes) {
    case 4:
      return copy_blocks<4>(to, from, *row.step, blocks);
    case 8:
      return copy_blocks<8>(to, from, *row.step, blocks);
    case 16:
      return copy_blocks<16>(to, from, *row.step, blocks);
    default:
      for (std::size_t i = 0; i < blocks; ++i, to += row.bytes, from += *row.step)
        std::memcpy(to, from, row.bytes);
  }
}

void PackedPieces::advance(std::size_t blocks) {
  const auto& rows = packer_.rows();
  done_ += blocks;
  if (done_ < rows[row_].count) return;
  done_ = 0;
  if (++row_ < rows.size()) return;
  row_ = 0;
  element_ += packer_.extent();
}

std::span<const std::byte> PackedPieces::next(std::span<std::byte> room) {
  std::byte* to = room.data();
  std::size_t free = std::min(room.size(), left_);
  while (free > 0) {
    const Row& row = packer_.rows()[row_];
    std::size_t blocks = row.count - done_;
    if (blocks * row.bytes > free) blocks = free / row.bytes;
    if (blocks == 0 && to != room.data()) break;
    if (blocks == 0) {
      const std::span in_place{element_ + packer_.place_of(row, done_), std::min(row.bytes, left_)};
      advance(1);
      left_ -= in_place.size();
      return in_place;
    }
    copy(to, row, blocks);
    to += blocks * row.bytes;
    free -= blocks * row.bytes;
    advance(blocks);
  }
  const std::span<const std::byte> piece = room.first(static_cast<std::size_t>(to - room.data()));
  left_ -= piece.size();
  return piece;
}

}  // namespace resprout::shim
