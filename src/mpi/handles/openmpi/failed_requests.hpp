// Sends whose communicator is revoked, and which Open MPI 5.0 would end too early.
//
// A call of Open MPI that waits for a request asks `ompi_request_is_failed_fn` whether the request
// can still come to its end. Where its communicator is revoked that ends a send at once, although
// its receiver, which lives, may be about to read the buffer: what it gets then is anything, or the
// job ends. So the function goes through here, and such a send goes on: its receiver takes the
// message or, once it has heard of the revocation, lets the sender go.
//
// MPI_Request_get_status asks nothing of the kind there, and so never sees that a loss has ended a
// request: `is_failed_in_mpi` does.
//
// Thread rule: from any thread.
#pragma once

#include <mpi.h>

namespace resprout::shim {

// The library takes it for failed, and has ended it, unless it is a wildcard receive that others
// may still answer. REQUIRES: it is active.
bool is_failed_in_mpi(MPI_Request request);

// While one lives, this thread is in a blocking send of MPI's, whose request has no name here.
class BlockingSend {
 public:
  BlockingSend(MPI_Comm comm, int dest);
  ~BlockingSend();
  BlockingSend(const BlockingSend&) = delete;
  BlockingSend& operator=(const BlockingSend&) = delete;
};

}  // namespace resprout::shim
