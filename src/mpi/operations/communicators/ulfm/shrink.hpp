// A communicator of the living members of another one, which may be revoked.
//
// The members agree on who is left, in an operation of the session for repairs; each then makes the
// communicator for itself (derived.hpp): MPI has no part in it, so no death can fall into that.
#pragma once

#include <mpi.h>

namespace resprout::shim {

// As MPIX_Comm_shrink, for a communicator that has a session; errors are not passed to a handler.
int shrink(MPI_Comm comm, MPI_Comm* shrunken);

}  // namespace resprout::shim
