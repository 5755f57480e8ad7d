// Telling the MPI library of this process that another one has failed, which lives and of which the
// library would not hear before it ends: it was cut off (mpi/handles/errors/cut_off.hpp).
//
// What waits for it inside of MPI ends as if it had died. The function that does that,
// ompi_errhandler_proc_failed_internal, is Open MPI 5's own, called by it when its runtime or a
// neighbor speaks of a death. It is no part of MPI; where it is missing nobody who is cut off lives
// on, and the library hears of each by itself.
//
// Thread rule: as ulfm::revoke.
#pragma once

namespace resprout::shim {

bool can_fail_locally();

// REQUIRES: can_fail_locally(); not this process.
void fail_locally(int world_rank);

}  // namespace resprout::shim
