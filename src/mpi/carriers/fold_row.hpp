// The sum of a row of contributions (runtime/blocks.hpp), in the order of ranks.
// Thread rule: the program's.
#pragma once

#include <cstddef>
#include <span>

#include "mpi/handles/operators/reduction.hpp"

namespace resprout::shim {

// Writes the sum of those of ranks below `end` into a receive buffer, or leaves that as it is if
// there are none. MPI_ERR_TRUNCATE: one of them is not as long as the others.
int fold_row(std::span<const std::byte> row, int end, Reduction& reduction, void* recvbuf);

}  // namespace resprout::shim
