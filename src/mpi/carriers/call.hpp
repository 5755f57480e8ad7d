// One call of a collective, from entry to return: injection, the session, the report, the error.
#pragma once

#include <mpi.h>

#include <optional>

#include "mpi/carriers/native.hpp"
#include "mpi/carriers/specs.hpp"
#include "mpi/handles/communicators/revocations.hpp"
#include "mpi/handles/datatypes/payload.hpp"
#include "mpi/process/inside_call.hpp"
#include "runtime/session.hpp"

namespace resprout::shim {

struct Communicator;
class World;

// In the report and for faults on purpose, unless it is a call of our own.
void count_call(World& world, const char* name);

class CollectiveCall {
 public:
  // Most calls hold the engine's lock from the beginning. What the MPI library carries needs it at
  // the end only.
  enum class Lock { at_once, later };

  // A call is counted at its first entry; `again` is for one that was counted without this.
  enum class Entry { first, again };

  // `name`: the lower-case MPI name, static.
  CollectiveCall(MPI_Comm comm, const char* name, Lock when = Lock::at_once,
                 Entry entry = Entry::first);

  // False: this collective is the MPI library's business (inter-communicator, one process, or
  // outside MPI_Init .. MPI_Finalize).
  bool is_ours() const { return session_ != nullptr; }
  runtime::Session& session() { return *session_; }
  const runtime::Session& session() const { return *session_; }
  Communicator& communicator() const { return *communicator_; }
  // Held from here on, and what the program has started before is over. REQUIRES: is_ours().
  runtime::Lock& lock();
  // In the communicator, which may have lost members. REQUIRES: is_ours().
  int rank() const { return session_->everybody().comm_rank(session_->everybody().self()); }
  int size() const { return session_->everybody().size(); }
  // All have agreed that nobody is lost.
  bool is_whole() const { return session_->is_whole(); }

  // The call is MPI's business after all, because its arguments are not valid, say.
  template <typename Native>
  int leave_to(Native native) {
    if (lock_.owns_lock()) lock_.unlock();
    pass_on_revocations();
    return native();
  }

  // Where the MPI library carries this call of so many bytes until a loss; MPI_COMM_NULL: nowhere,
  // it is for the session's own operations. The same answer at all members. REQUIRES: is_ours().
  MPI_Comm native(Kind kind, std::size_t bytes);
  // What was agreed on before it could begin.
  void note_before(const runtime::Outcome& outcome);
  // Leaves it to the MPI library: what the call returns. Nothing if a loss came in between, and it
  // has to be run by the session.
  template <typename Run>
  std::optional<int> run(NativeCollective<Run> collective) {
    const runtime::Outcome outcome = session_->run_natively(lock_, collective);
    if (outcome.is_delivered) return finish_native(outcome, collective.code());
    if (session_->is_revoked()) return finish(outcome);
    before_ = outcome;
    return std::nullopt;
  }
  // The same on `native` for a call whose ranks need different things, which the library writes
  // where `landing` says (a Landing). `library`: int(), its call. `root`: who alone gives
  // anything, or -1.
  template <typename AnyLanding, typename Library>
  std::optional<int> run(MPI_Comm native, AnyLanding& landing, Library library, int root = -1) {
    NativeCollective collective({.communicator = communicator_,
                                 .comm = native,
                                 .root = root,
                                 .may_keep = false,
                                 .redoes_mistakes = true},
                                library);
    const runtime::Outcome outcome = session_->run_natively(lock_, collective);
    if (!outcome.is_delivered) {
      landing.give_up();
      if (session_->is_revoked()) return finish(outcome);
      before_ = outcome;
      return std::nullopt;
    }
    if (lock_.owns_lock()) lock_.unlock();
    if (collective.code() == MPI_SUCCESS)
      landing.take();
    else
      landing.give_up();
    return finish_native(outcome, collective.code());
  }

  // The same of what is through here whatever becomes of it elsewhere: a NativeGather, or a
  // NativeScan.
  template <typename Collective>
  int run_ahead(Collective& collective) {
    const runtime::Outcome outcome = session_->run_natively(lock_, collective);
    if (lock_.owns_lock()) lock_.unlock();
    const int code = collective.end();
    return outcome.is_delivered ? finish_native(outcome, code) : finish(outcome);
  }
  // What is given goes so if it is not too much: the same answer at all members, as below.
  bool may_run_ahead() const;
  // And so many bytes are not.
  bool may_keep_given(std::size_t bytes) const {
    return may_run_ahead() && bytes <= given_bytes_max;
  }

  // Releases the lock, writes the report, and gives the code that the call returns: through the
  // program's error handler if it is an error. `code`: what else went wrong.
  int finish(runtime::Outcome outcome, int code = MPI_SUCCESS);

 private:
  int finish_native(const runtime::Outcome& outcome, int code);
  bool has_native_everywhere();

  InsideCall inside_;
  MPI_Comm comm_;
  Communicator* communicator_ = nullptr;
  const char* name_;
  std::uint64_t number_ = 0;  // of this call among those of its name on this communicator, from 1
  runtime::Lock lock_;
  runtime::Session* session_ = nullptr;
  std::optional<runtime::Outcome> before_;  // of what was tried first
};

// Writes into the report that a loss fell into a call. `number`: of this call among those of its
// name on the communicator; `session`: the communicator's.
void note_recovery(MPI_Comm comm, const char* name, std::uint64_t number, std::uint64_t session,
                   const runtime::Outcome& outcome);

// True if MPI itself would accept these; else the call goes to MPI, which knows what to say.
bool is_valid_buffer(int count, MPI_Datatype datatype);
// MPI_IN_PLACE stands where it means nothing: in the place of the buffer for a result, or of what a
// rank gives that is not the root. `root`: -1 if all have a result.
bool is_in_place_wrongly(const void* sendbuf, const void* recvbuf, int root, MPI_Comm comm);
bool is_valid_reduction(int count, MPI_Datatype datatype, MPI_Op op);

}  // namespace resprout::shim
