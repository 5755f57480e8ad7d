// Makes the communicators of the MPI library's that carry collectives (handles/communicators/
// natives.hpp) and the messages of neighbors (neighbor_messages.hpp), where the program makes one.
//
// Thread rule: as MPI's own that make a communicator.
#pragma once

#include <mpi.h>

namespace resprout::shim {

// Makes one for `comm`, where a program has just made that: collective over `comm`. Making one
// cannot be interrupted (Open MPI 5.0 waits for ever for who is lost meanwhile), so it is done
// where the program itself has taken that risk.
void make_native(MPI_Comm comm);

// Makes what carries the messages of neighbors on `comm`, where a program has just made that, and
// it has a topology: collective over `comm`. False: it has none. REQUIRES: make_native was called
// for it.
bool make_neighbors(MPI_Comm comm);
// Not every member has it, so nobody uses it.
void forgo_neighbors(MPI_Comm comm);

}  // namespace resprout::shim
