// Who has failed in a communicator, as this process knows, and what of it the program has
// acknowledged.
//
// The order is that in which this process learned: what was told once stays where it was, so a
// number of failures means the same ones each time. What MPI has found by itself counts, too.
//
// Thread rule: from any thread of the program, without the engine's lock; calls on one communicator
// one after the other. REQUIRES throughout: World::current() is not null.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <span>
#include <vector>

namespace resprout::shim {

// All that are known, as ranks of `comm` (of its remote group, if it has one).
std::span<const int> failed_in(MPI_Comm comm);
// Those that the program has acknowledged: the first ones.
std::span<const int> acknowledged_in(MPI_Comm comm);
// The first `count`, or as many as there are. Wildcard receives go on without them.
void acknowledge(MPI_Comm comm, int count);
// Everything MPI knows to be lost in `comm` is acknowledged: a wildcard receive may go on.
bool is_all_acknowledged(MPI_Comm comm);

}  // namespace resprout::shim
