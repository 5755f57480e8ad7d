// Sends that MPI is never given, because nobody can receive them: their peer is known to be lost,
// or their communicator is revoked.
//
// What starts one succeeds, as it does where the loss comes a moment later. The call that completes
// the request says how it has ended (broken_sends.hpp). The request is a generalized one that is
// complete; a persistent one stays inactive for MPI, and only the shim knows that it was started.
//
// Thread rule: from any thread.
#pragma once

#include <mpi.h>

namespace resprout::shim {

// A request that is complete. Where siblings stand in for a process it is one of as many as in
// planes that have not lost it.
int start_nothing(MPI_Request* request);
// A request for a send to `dest` on `comm`, which ends with `code`. Returns a code of MPI.
int start_unsent(MPI_Comm comm, int dest, int code, MPI_Request* request);

}  // namespace resprout::shim
