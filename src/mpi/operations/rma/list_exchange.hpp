// Bytes from each member of a communicator to each: how long they are differs, and is not known.
//
// By collectives and messages of our own wrappers, so that losses do not hurt, and siblings stand
// in for the lost. Thread rule: collective.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace resprout::shim {

// By rank.
using ListsOfBytes = std::vector<std::vector<std::byte>>;

// `mine`: for each rank; `most`: the length of the longest one that any member has; `others`: what
// each rank has for this one, of the lost all or nothing. Returns MPI's code.
int exchange_lists(MPI_Comm comm, const std::vector<std::span<const std::byte>>& mine,
                   std::uint64_t most, ListsOfBytes& others);

}  // namespace resprout::shim
