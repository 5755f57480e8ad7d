// The other end of a point-to-point call: is it lost, and may a wildcard receive go on without?
//
// Thread rule: from any thread. REQUIRES throughout: World::current() is not null.
#pragma once

#include <mpi.h>

#include "mpi/handles/communicators/lingering.hpp"
#include "mpi/handles/errors/errors.hpp"
#include "mpi/process/inside_call.hpp"
#include "mpi/process/world.hpp"

namespace resprout::shim {

// Somebody is lost, or a communicator is revoked: two loads, to see that nothing is amiss.
bool has_anything_happened();

// The process that has this rank in `comm` is lost: the lifeline says so, or MPI has. Nothing but
// a load while nobody is.
bool is_lost(MPI_Comm comm, int rank);

// Nothing can be sent to it: it is lost, or the communicator is revoked.
bool is_out_of_reach(MPI_Comm comm, int rank);
// What a call on `comm` returns that would wait for ever: MPIX_ERR_REVOKED if that is why.
int code_of_loss(MPI_Comm comm);

// MPI sends so much at once, whatever its transport: it does not wait for the receiver.
bool is_sent_at_once(int count, MPI_Datatype datatype);

// MPI has ended a call with `code` whose only peer was `rank`; MPI may know before the lifeline.
void note_code(MPI_Comm comm, int rank, int code);

// Nobody is left who could send what `source` names: a lost process, or MPI_ANY_SOURCE and all
// others are lost; or the communicator is revoked.
bool is_hopeless(MPI_Comm comm, int source);
// The same, whether it is revoked or not.
bool is_without_peer(MPI_Comm comm, int source);

// For a call that MPI ended with `code` and that waits for a message from `source`: true if a loss
// has broken off a wildcard receive that somebody may still answer, so that the call is to be made
// again, now without the lost. If all others are lost, that is this process itself, and `source`
// becomes its rank. In `error` mode the program is told instead.
bool goes_on(MPI_Comm comm, int& source, int tag, int code);

// One call of the program, point-to-point or on requests, from entry to return.
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
