// Revoking a communicator in the MPI library of this process alone, where all its members hear of
// the revocation otherwise.
//
// MPIX_Comm_revoke tells the others as well, by messages of its own: a second flood beside ours.
// What it does here is a function of Open MPI 5's, ompi_comm_revoke_local. That is no part of MPI;
// where it is missing the library's flood is sent as well.
//
// Thread rule: as ulfm::revoke.
#pragma once

#include <mpi.h>

namespace resprout::shim {

// Each thread of this process that is in a call on `comm`, or enters one, leaves it with an error.
// The same may happen in other processes. REQUIRES: its members have been told, and look for that
// while they wait inside of MPI.
void revoke_locally(MPI_Comm comm);
// Nobody else hears of it from MPI.
bool can_revoke_locally();

}  // namespace resprout::shim
