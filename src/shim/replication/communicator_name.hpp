// The name of a communicator that all its members, in all replicas, give it without a message.
//
// It is the identity of its session (shim/communicator.hpp), which follows from the world ranks of
// its members and from the communicator it was made of. A process that is alone in a communicator
// has nobody to agree with but its replicas: it numbers these in the order of their first use.
//
// Thread rule: from any thread that does not hold the engine's lock.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <optional>

namespace resprout::shim {

// Nothing for inter-communicators, for those with members of another MPI_COMM_WORLD, and before the
// first collective in those that the MPI library makes alone (MPI_Comm_create_group, MPI_Comm_idup,
// MPI_Intercomm_merge ...).
// REQUIRES: World::current() is not null; `comm` is valid.
std::optional<std::uint64_t> name_of(MPI_Comm comm);

}  // namespace resprout::shim
