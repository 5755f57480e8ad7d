#include "runtime/checkpoints/changed_blocks.hpp"

#include <algorithm>

namespace resprout::runtime {

std::vector<BlockRun> changed_blocks(std::span<const std::uint64_t> now,
                                     std::span<const std::uint64_t> before) {
  std::vector<BlockRun> runs;
  for (std::size_t i = 0; i < now.size(); ++i) {
    if (i < before.size() && now[i] == before[i]) continue;
    if (!runs.empty() && runs.back().first + runs.back().count == i)
      ++runs.back().count;
    else
      runs.push_back({i, 1});
  }
  return runs;
}

std::vector<BlockRun> other_blocks(std::span<const BlockRun> runs, std::uint64_t blocks) {
  std::vector<BlockRun> others;
  std::uint64_t at = 0;
  for (const BlockRun& run : runs) {
    if (run.first > at) others.push_back({at, run.first - at});
    at = run.first + run.count;
  }
  if (blocks > at) others.push_back({at, blocks - at});
  return others;
}

ByteRange range_of(const BlockRun& run, std::size_t block, std::size_t bytes) {
  const std::size_t begin = std::min(bytes, static_cast<std::size_t>(run.first) * block);
  const std::size_t end = std::min(bytes, static_cast<std::size_t>(run.first + run.count) * block);
  return {begin, end - begin};
}

}  // namespace resprout::runtime
