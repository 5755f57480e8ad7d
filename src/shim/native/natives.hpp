// The MPI library's communicators on which it carries collectives until a loss.
//
// They are private, so that revoking one hurts nobody but those collectives. Revoking is what gets
// everybody out of them: a process does it as soon as it knows of a lost member, from inside the
// library's own progress (progress_hook.hpp) if it is blocked there. Only an MPI with ULFM can.
//
// Invariants
//  1. A session has one everywhere or nowhere: its members agree on that after making it.
//  2. Once a process knows of a lost member, it has revoked the communicator before it says
//     anything of ours in an operation that the library was to carry.
// Thread rule: `open_natives` and `close_natives` once; the rest from any thread.
#pragma once

#include <mpi.h>

#include <vector>

namespace resprout::shim {

// In MPI_Init, collective over MPI_COMM_WORLD, before anybody can be lost.
void open_natives();
// In MPI_Finalize. What is still open is left to MPI.
void close_natives();

// A communicator for those of MPI_COMM_WORLD, made by all of them together, which are told apart
// from others that make one at the same time by `tag`. MPI_COMM_NULL if that failed here.
MPI_Comm make_native(const std::vector<int>& world_ranks, int tag);
// REQUIRES: made by make_native, and nobody is in it or will be.
void free_native(MPI_Comm native);

// Gets everybody out of it, now and later.
void revoke_native(MPI_Comm native);

}  // namespace resprout::shim
