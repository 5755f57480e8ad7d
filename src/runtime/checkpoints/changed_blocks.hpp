// Which blocks of a checkpoint differ from those of the one before: only they cross hosts.
//
// Thread rule: pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace resprout::runtime {

// Blocks that follow each other. Travels as it stands.
struct BlockRun {
  std::uint64_t first = 0;
  std::uint64_t count = 0;

  bool operator==(const BlockRun&) const = default;
};

// By their digests, ascending; runs touch nowhere. Blocks that there were not before have changed.
std::vector<BlockRun> changed_blocks(std::span<const std::uint64_t> now,
                                     std::span<const std::uint64_t> before);

// All others of so many blocks, ascending.
std::vector<BlockRun> other_blocks(std::span<const BlockRun> runs, std::uint64_t blocks);

// What of `bytes` bytes lies in the run, where blocks have `block` bytes and the last may be
// shorter.
struct ByteRange {
  std::size_t offset = 0;
  std::size_t bytes = 0;
};
ByteRange range_of(const BlockRun& run, std::size_t block, std::size_t bytes);

}  // namespace resprout::runtime
