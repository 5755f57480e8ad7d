#include "mpi/carriers/fold_row.hpp"

#include <algorithm>
#include <vector>

#include "runtime/blocks.hpp"

namespace resprout::shim {

int fold_row(std::span<const std::byte> row, int end, Reduction& reduction, void* recvbuf) {
  std::vector<runtime::Block> blocks;
  runtime::BlockReader reader(row);
  while (const auto block = reader.next())
    if (block->rank < end) blocks.push_back(*block);
  if (blocks.empty()) return MPI_SUCCESS;
  std::ranges::sort(blocks, {}, &runtime::Block::rank);
  runtime::Buffer sum;
  for (const runtime::Block& block : blocks) {
    if (block.data.size() != reduction.input_bytes()) return MPI_ERR_TRUNCATE;
    runtime::Buffer upper(block.data);
    if (&block != blocks.data())
      reduction.combiner().combine(sum.view(), {upper.data(), upper.size()});
    sum = std::move(upper);
  }
  reduction.write(sum.view(), recvbuf);
  return reduction.code();
}

}  // namespace resprout::shim
