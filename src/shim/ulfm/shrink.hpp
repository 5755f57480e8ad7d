// A communicator of the living members of another one, which may be revoked.
//
// The members first agree on who is left (session for repairs), then MPI makes the communicator,
// and then they agree that all have it and that its members are those. If somebody is lost
// meanwhile they begin again, with fewer. Nobody leaves before all have: a death bears no harm once
// MPI's part is over, but Open MPI 5.0 does not bear one in it (docs/open-mpi.md). That is why
// there is no private communicator of the library's for it (native/natives.hpp): its collectives
// are ours.
#pragma once

#include <mpi.h>

namespace resprout::shim {

// As MPIX_Comm_shrink, for a communicator that has a session; errors are not passed to a handler.
int shrink(MPI_Comm comm, MPI_Comm* shrunken);

}  // namespace resprout::shim
