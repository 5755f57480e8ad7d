// Makes and ends communicators without the MPI library (handles/communicators/derived.hpp).
//
// Thread rule: one is made and ended by one thread, as MPI demands.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

#include "runtime/session.hpp"

namespace resprout::shim {

class RollCall;

// A communicator of these world ranks, in this order, which may be lost already, with the session
// `name`; its messages go over the carrier that `roll` has found. It gets the error handler of
// `like`, but not its attributes. MPI_ERR_OTHER, at all members, if there is no carrier left.
int make_derived(std::vector<int> world_ranks, RollCall& roll, std::uint64_t name, MPI_Comm like,
                 MPI_Comm* made, runtime::Lock& lock);
// Instead of MPI_Comm_free. `is_clean`: all members part, after all that they had to say. Of one
// that departs (departures.hpp) what carries its messages is not given back yet. REQUIRES: it has
// no attributes any more.
void unmake(MPI_Comm comm, bool is_clean);

}  // namespace resprout::shim
