// The MPI library's communicators on which it carries collectives until a loss.
//
// They are private, so that revoking one hurts nobody but those collectives. Revoking is what gets
// everybody out of them: a process does it as soon as it knows of a lost member, from inside the
// library's own progress (progress_hook.hpp) if it is blocked there. Only an MPI with ULFM can.
//
// Invariants
//  1. A session uses one everywhere or nowhere: its members agree on that before the first use. Not
//     before that is it revoked: a process that is still at making it would not live through that.
//  2. Once a process knows of a lost member, it has revoked the communicator before it says
//     anything of ours in an operation that the library was to carry.
// Thread rule: `open_natives` and `close_natives` once; the rest from any thread.
#pragma once

#include <mpi.h>

#include <vector>

#include "mpi/handles/errors/cut_off.hpp"

namespace resprout::shim {

struct Communicator;

// In MPI_Init, before anybody can be lost. `look_around`: what a thread that is blocked in the
// library does now and then.
void open_natives(void (*look_around)());
// In MPI_Finalize. What is still open is left to MPI.
void close_natives();

bool are_natives_open();
// There is no more than a number of them, so that most of the library's numbers are left to the
// program. False: this process has so many. In a program without so many communicators each has
// one.
bool may_make_native();
// `made` carries collectives of `comm` from now on.
void add_native(MPI_Comm comm, MPI_Comm made);
// Its members have agreed to use it.
void use_native(MPI_Comm native, const std::vector<int>& world_ranks);
// `is_clean`: nothing of it is on its way. REQUIRES: add_native was called for it, and nobody is in
// it or will be.
void leave_native(MPI_Comm native, bool is_clean);

// Gets everybody out of it, now and later. `revoke`: how. False: it is not used, or was revoked
// before.
bool revoke_native(MPI_Comm native, void (*revoke)(MPI_Comm) = revoke_in_mpi);

// The same of what carries the messages of neighbors (carriers/exchanges/neighbor_messages.hpp).
// `is_clean`: nobody of its communicator is lost or has revoked it. REQUIRES: nobody is in it.
void leave_neighbors(Communicator& communicator, bool is_clean);

}  // namespace resprout::shim
