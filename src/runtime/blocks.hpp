// Concatenations: contributions one behind the other, each with the name of who gave it.
//
// A row of blocks, in any order of ranks; two rows put together are a row. Who is missing has no
// block. On the wire and in memory:
//   byte 0   4  rank in the communicator
//        4   4  0, or 1: who gives it cannot take what the others give
//        8   8  n, how many bytes
//       16   n  the bytes, then zeros up to a multiple of 16
// so that each block's bytes are as aligned as the row is, up to 16 bytes. All bytes are defined:
// rows are compared and copied as a whole.
//
// What members of a program that is wrong have given may be no row: reading ends where it is none.
//
// Thread rule: values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

#include "core/invariant.hpp"
#include "runtime/copy.hpp"

namespace resprout::runtime {

struct Block {
  int rank = 0;
  std::span<const std::byte> data;
  bool takes_all = true;  // who gives it
};

namespace detail {

struct BlockHeader {
  std::int32_t rank = 0;
  std::int32_t takes_nothing = 0;
  std::uint64_t bytes = 0;
};
static_assert(sizeof(BlockHeader) == 16);

constexpr std::size_t padded_block(std::size_t bytes) { return (bytes + 15) & ~std::size_t{15}; }

}  // namespace detail

// How long a row with one block of so many bytes is.
constexpr std::size_t block_bytes(std::size_t bytes) {
  return sizeof(detail::BlockHeader) + detail::padded_block(bytes);
}

// Writes rows. REQUIRES: the memory has exactly the room for what is written.
class BlockWriter {
 public:
  explicit BlockWriter(std::span<std::byte> memory) : rest_(memory) {}

  // Begins a block; what it returns is for the caller to fill.
  std::span<std::byte> begin(int rank, std::size_t bytes, bool takes_all = true) {
    RESPROUT_INVARIANT(block_bytes(bytes) <= rest_.size());
    const detail::BlockHeader header{rank, takes_all ? 0 : 1, bytes};
    std::memcpy(rest_.data(), &header, sizeof header);
    const std::span<std::byte> data = rest_.subspan(sizeof header, bytes);
    const std::size_t end = block_bytes(bytes);
    for (std::size_t i = sizeof header + bytes; i < end; ++i) rest_[i] = std::byte{0};
    rest_ = rest_.subspan(end);
    return data;
  }
  void put(int rank, std::span<const std::byte> bytes, bool takes_all = true) {
    copy_bytes(begin(rank, bytes.size(), takes_all).data(), bytes.data(), bytes.size());
  }

 private:
  std::span<std::byte> rest_;
};

// Reads a row, block by block; nothing at its end, or where what follows is no block.
class BlockReader {
 public:
  explicit BlockReader(std::span<const std::byte> row) : rest_(row) {}

  std::optional<Block> next() {
    if (rest_.empty()) return std::nullopt;
    detail::BlockHeader header;
    if (rest_.size() < sizeof header) return std::nullopt;
    std::memcpy(&header, rest_.data(), sizeof header);
    if (header.takes_nothing < 0 || header.takes_nothing > 1 ||
        header.bytes > rest_.size() - sizeof header || block_bytes(header.bytes) > rest_.size())
      return std::nullopt;
    const Block block{header.rank, rest_.subspan(sizeof header, header.bytes),
                      header.takes_nothing == 0};
    rest_ = rest_.subspan(block_bytes(header.bytes));
    return block;
  }
  // Nothing is left.
  bool is_at_end() const { return rest_.empty(); }

 private:
  std::span<const std::byte> rest_;
};

// It consists of blocks of ranks below `ranks`.
inline bool is_row(std::span<const std::byte> row, int ranks) {
  BlockReader reader(row);
  while (const auto block = reader.next())
    if (block->rank < 0 || block->rank >= ranks) return false;
  return reader.is_at_end();
}

// All who give take what the others give.
inline bool do_all_take(std::span<const std::byte> row) {
  BlockReader reader(row);
  while (const auto block = reader.next())
    if (!block->takes_all) return false;
  return true;
}

// The bytes of a rank's block; none if the row has no such block.
inline std::optional<std::span<const std::byte>> find_block(std::span<const std::byte> row,
                                                            int rank) {
  BlockReader reader(row);
  while (const auto block = reader.next())
    if (block->rank == rank) return block->data;
  return std::nullopt;
}

}  // namespace resprout::runtime
