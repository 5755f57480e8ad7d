// One call of the program, point-to-point or on requests, from entry to return.
//
// Thread rule: from any thread. REQUIRES throughout: World::current() is not null.
#pragma once

#include <mpi.h>

#include "mpi/handles/communicators/lingering.hpp"
#include "mpi/handles/error_handlers/unanswered.hpp"
#include "mpi/handles/errors/quiet.hpp"
#include "mpi/process/inside_call.hpp"

namespace resprout::shim {

// For a call that MPI ended with `code` and that waits for a message from `source`: true if a loss
// has broken off a wildcard receive that somebody may still answer, so that the call is to be made
// again, now without the lost. If all others are lost, that is this process itself, and `source`
// becomes its rank. In `error` mode the program is told instead.
bool goes_on(MPI_Comm comm, int& source, int tag, int code);

class GuardedCall {
 public:
  // `name`: the lower-case MPI name, a string literal. For requests, `comm` is that of the error.
  explicit GuardedCall(const char* name);
  GuardedCall(const char* name, MPI_Comm comm);

  // `peer`: the one process that this call needs, if there is one.
  GuardedCall(const char* name, MPI_Comm comm, int peer) : GuardedCall(name, comm) {
    peer_ = peer;
    inside_.needs_peer(peer);
  }
  ~GuardedCall() { end_lingering(); }
  GuardedCall(const GuardedCall&) = delete;
  GuardedCall& operator=(const GuardedCall&) = delete;

  // False: outside of MPI_Init .. MPI_Finalize, or no communicator; the call is MPI's business.
  bool is_ours() const { return is_ours_; }
  // Where MPI found the last error of this call.
  MPI_Comm communicator_in_error() const;

  // What the call returns for what MPI, or the lack of a peer, gave it. The last thing to do.
  int finish(int code) { return finish(code, lacked_by(name_)); }
  int finish(int code, Lacks lacks);

 private:
  GuardedCall(const CurrentCall& call, bool is_ours);

  const char* name_;
  MPI_Comm comm_;
  int peer_ = MPI_PROC_NULL;
  bool is_ours_;
  InsideCall inside_;
  QuietLosses quiet_;
};

}  // namespace resprout::shim
