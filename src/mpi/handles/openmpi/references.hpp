// Whether requests of the MPI library's are left on a communicator.
//
// Nobody remembers all of them here (request_record.hpp). But Open MPI counts who holds a
// communicator, each of its requests among them, so that it stays as long as they do. Where that
// count stands is found out in MPI_Init, by a request: another library has none, and then nothing
// is known.
//
// Thread rule: `find_references` once; the other one from any thread.
#pragma once

#include <mpi.h>

namespace resprout::shim {

// In MPI_Init. `own`: a communicator of this process alone, without requests.
void find_references(MPI_Comm own);
// Somebody besides the program holds it. False: nobody does, or that is not known. REQUIRES: it is
// valid.
bool has_requests_in_mpi(MPI_Comm comm);

}  // namespace resprout::shim
