// How a communicator ends, before MPI frees it. Thread rule: as MPI_Comm_free.
#pragma once

#include <mpi.h>

namespace resprout::shim {

// For the wrappers that end a communicator, before MPI does.
enum class Parting {
  alone,    // it has no session (any more): MPI's business
  clean,    // all living members were there to part, and none of their messages is left
  unclean,  // it was revoked, or has lost members: there may be messages, here or on their way
};
// Whether it is to wait for the other members; else it does where that has to be known.
enum class PartingWaits { if_needed, always };
Parting close_communicator(MPI_Comm comm, PartingWaits waits);

}  // namespace resprout::shim
