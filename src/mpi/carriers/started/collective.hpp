// A collective that was started and is not waited for: one operation of its communicator's session,
// or several one after the other.
//
// It holds all that the call said, reads send buffers when it is made (or while it goes on, as MPI
// allows), and writes receive buffers before it is over. What needs MPI's datatypes or operators
// is left to the program's threads unless MPI and the operator may be called from any.
// Blocking collectives of several operations are the same, and waited for.
// Thread rule: made on a thread of the program, under the engine's lock; then as a task. Destroyed
// under the lock unless it is over.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "mpi/handles/datatypes/payload.hpp"
#include "mpi/policies/call_data.hpp"
#include "mpi/process/thread_level.hpp"
#include "runtime/started.hpp"
#include "runtime/task.hpp"

// Those of MPI 4, which Open MPI has had before.
#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
#  define RESPROUT_HAS_PERSISTENT_COLLECTIVES 1
#else
#  define RESPROUT_HAS_PERSISTENT_COLLECTIVES 0
#endif

namespace resprout::shim {

class CollectiveCall;
class SubstitutedCollective;

class Collective : public runtime::Task {
 public:
  // What the report says of it, and whom its end is told.
  struct Call {
    MPI_Comm comm = MPI_COMM_NULL;
    const char* name = "";     // the lower-case MPI name, static
    std::uint64_t number = 0;  // of this call among those of its name on this communicator, from 1
    int ticket = 0;            // the name of its request (under_way.hpp)
    MPI_Request request = MPI_REQUEST_NULL;
    std::shared_ptr<SubstitutedCollective> substituted = nullptr;  // where siblings stand in
    void (*note_end)(const Call& call) = nullptr;  // it is over; under the engine's lock
  };

  bool advance() override;
  bool is_for_program() const override { return is_for_program_; }

  void set_call(const Call& call) { call_ = call; }
  const Call& call() const { return call_; }
  // That is there as long as this.
  void keep(std::shared_ptr<const void> kept) { kept_ = std::move(kept); }
  // Goes on with it until it is over, for a call that waits for it; what that returns.
  int run(CollectiveCall& call);
  // Under the engine's lock. A persistent one is made anew at each start.
  bool is_over() const { return is_over_; }
  // What the call that completes it returns. REQUIRES: it is over.
  int result() const { return result_; }
  // Where it is an operation.
  runtime::Session& session() const { return session_; }
  // It has begun, and goes on once others have written into shared slots: for that nothing has to
  // be driven.
  virtual bool looks_at_shared_slots() const { return false; }
  // It refers to that datatype, or that operator, until it is over.
  virtual bool uses(MPI_Datatype) const { return false; }
  virtual bool uses(MPI_Op) const { return false; }

 protected:
  explicit Collective(runtime::Session& session) : session_(session), started_(session) {}

  // In the communicator, which may have lost members.
  int rank() const { return session_.everybody().comm_rank(session_.everybody().self()); }
  int size() const { return session_.everybody().size(); }
  // All that it does is for the program's threads.
  void leave_to_program() { is_for_program_ = true; }
  // It came to that.
  void end_with(const runtime::Outcome& outcome) {
    outcome_ = outcome;
    end();
  }
  // Before it was given to its session: nobody has to hear of that.
  void note_well_over() {
    result_ = MPI_SUCCESS;
    is_over_ = true;
  }
  // It was that one all the time, which is over.
  void end_as(const Collective& other) {
    result_ = other.result_;
    tell_end();
  }
  // It calls MPI.
  void leave_mpi_to_program() { is_for_program_ = !may_call_mpi_anywhere(); }

  // Starts the first operation.
  virtual void begin(runtime::Started& started) = 0;
  // False: it waits for something that is no operation. Asked whenever it is to go on; may start
  // the next operation.
  virtual bool is_ready(runtime::Started& /*started*/) { return true; }
  // Starts the next one; false: that was the last, and nothing that is shared is held any more.
  // `last`: how that ended.
  virtual bool go_on(runtime::Started& /*started*/, const runtime::Outcome& /*last*/) {
    return false;
  }
  // The result of the operation that goes on, if it has one.
  virtual void take(std::span<const std::byte> result) = 0;
  // MPI_SUCCESS, or what else went wrong.
  virtual int code() const { return MPI_SUCCESS; }
  // False: it consists of no operations of the session, whose outcomes mean nothing then.
  virtual bool is_of_session() const { return true; }
  // A loss that it met is an error, if the program wants to know of losses.
  virtual bool is_harmed_by_loss() const { return true; }

 private:
  void end();
  void tell_end();

  runtime::Session& session_;
  runtime::Started started_;
  runtime::Outcome outcome_;
  Call call_;
  std::shared_ptr<const void> kept_;
  int result_ = MPI_SUCCESS;
  bool has_begun_ = false;
  bool is_over_ = false;
  bool is_for_program_ = false;
};

}  // namespace resprout::shim
