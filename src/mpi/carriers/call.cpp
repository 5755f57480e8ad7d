#include "mpi/carriers/call.hpp"

#include <algorithm>

#include "mpi/carriers/bitwise_and.hpp"
#include "mpi/handles/communicators/communicator.hpp"
#include "mpi/handles/communicators/sessions.hpp"
#include "mpi/handles/datatypes/type_facts.hpp"
#include "mpi/handles/error_handlers/errors.hpp"
#include "mpi/handles/errors/codes.hpp"
#include "mpi/handles/errors/quiet.hpp"
#include "mpi/policies/inject/inject.hpp"
#include "mpi/policies/replicas/substituted_collective.hpp"
#include "mpi/process/call_policy.hpp"
#include "mpi/process/first_loss.hpp"
#include "mpi/process/own_calls.hpp"
#include "mpi/process/report/report.hpp"
#include "mpi/process/world.hpp"
#include "openmpi/ulfm.hpp"
#include "runtime/collectives.hpp"
#include "runtime/engine.hpp"

namespace resprout::shim {

void count_call(World& world, const char* name) {
  if (OwnCalls::are_made()) return;
  entering(name);
  world.report().count_call(name);
}

CollectiveCall::CollectiveCall(MPI_Comm comm, const char* name, Lock when, Entry entry)
    : inside_({name, comm, CurrentCall::Needs::members}), comm_(comm), name_(name) {
  World* world = World::current();
  if (world == nullptr || comm == MPI_COMM_NULL) return;
  if (entry == Entry::first) count_call(*world, name);
  if (leaves_collectives_to_library(world->options())) return;
  communicator_ = communicator_of(comm);
  session_ = session_of(*communicator_, comm);
  if (session_ == nullptr) return;
  lock_ = world->engine().open_lock();
  number_ =
      entry == Entry::first ? communicator_->calls.next(name) : communicator_->calls.current(name);
  communicator_->last = session_;
  // What others have revoked ends here at once, not somewhere inside of the library.
  if (world->engine().notices().has_unread()) {
    lock_.lock();
    world->engine().read_notices(lock_);
    lock_.unlock();
  }
  if (when == Lock::at_once) lock();
}

runtime::Lock& CollectiveCall::lock() {
  if (!lock_.owns_lock()) lock_.lock();
  if (!session_->has_tasks()) return lock_;
  session_->finish_tasks(lock_);
  communicator_->last = session_;  // a small collective has taken that place as it ended
  return lock_;
}

bool is_interruption(int code) {
  if (code == MPI_SUCCESS) return false;
  switch (class_of(code)) {  // the program's own mistakes
    case MPI_ERR_BUFFER:
    case MPI_ERR_COUNT:
    case MPI_ERR_TYPE:
    case MPI_ERR_OP:
    case MPI_ERR_ROOT:
    case MPI_ERR_ARG:
    case MPI_ERR_TRUNCATE:
      return false;
    default:
      return true;
  }
}

MPI_Comm CollectiveCall::native(Kind kind, std::size_t bytes) {
  if (session_->has_tasks()) lock();
  if (!session_->may_go_natively() || !prefers_native(*communicator_, kind, bytes))
    return MPI_COMM_NULL;
  using Agreed = Communicator::Agreed;
  if (communicator_->agreed == Agreed::not_yet)
    communicator_->agreed = has_native_everywhere() ? Agreed::on_it : Agreed::against_it;
  return communicator_->agreed == Agreed::on_it ? communicator_->native : MPI_COMM_NULL;
}

// Inside a host, shared slots do the same for few bytes, and the barrier costs little.
bool CollectiveCall::may_run_ahead() const { return !session_->is_on_one_host() && size() > 2; }

// Some may have seen a loss while it was made.
bool CollectiveCall::has_native_everywhere() {
  const bool has_one = communicator_->native != MPI_COMM_NULL;
  bool has_everybody = false;
  BitwiseAnd both;
  before_ = runtime::allreduce(
      *session_, lock(), reduce_spec(*session_, 1), std::as_bytes(std::span(&has_one, 1)), both,
      [&](std::span<const std::byte> all) { has_everybody = all[0] != std::byte{0}; });
  if (!has_everybody || !session_->may_go_natively()) return false;
  use_native(communicator_->native, communicator_->world_ranks);
  return true;
}

void CollectiveCall::note_before(const runtime::Outcome& outcome) {
  before_ = before_ ? *before_ + outcome : outcome;
}

int CollectiveCall::finish_native(const runtime::Outcome& outcome, int code) {
  World::current()->report().count_native(name_);
  return finish(outcome, code);
}

int CollectiveCall::finish(runtime::Outcome outcome, int code) {
  if (before_) outcome = *before_ + outcome;
  if (!lock_.owns_lock()) lock_.lock();
  World* world = World::current();
  if (communicator_->last != nullptr) note_outcome(*session_, outcome);
  const bool lacks_members = !session_->is_whole();
  if (outcome.is_touched && !session_->is_revoked())
    note_recovery(comm_, name_, number_, session_->id(), outcome);
  const bool is_revoked = session_->is_revoked();
  const bool is_mistake = session_->standstill.take_mistake();
  lock_.unlock();
  if (is_mistake) return shim::finish(comm_, name_, MPI_ERR_TRUNCATE);
  if (is_revoked) return shim::finish(comm_, name_, ulfm::revoked_class());
  if (code == MPI_SUCCESS && outcome.is_mismatched) code = MPI_ERR_TRUNCATE;
  if (code != MPI_SUCCESS) return shim::finish(comm_, name_, code);
  if (!outcome.is_delivered && call_policy().stands_in())
    return MPI_SUCCESS;  // substituted_collective.hpp goes on
  if (!outcome.is_delivered) return shim::finish(comm_, name_, proc_failed());
  const bool is_error_wanted = world->options().on_loss == OnLoss::error;
  if (is_error_wanted && (lacks_members || outcome.is_touched))
    return shim::finish(comm_, name_, proc_failed());
  return MPI_SUCCESS;
}

void note_recovery(MPI_Comm comm, const char* name, std::uint64_t number, std::uint64_t session,
                   const runtime::Outcome& outcome) {
  World* world = World::current();
  Recovery recovery;
  recovery.operation = name;
  recovery.number = number;
  recovery.communicator = comm == MPI_COMM_WORLD ? "world" : std::to_string(session);
  recovery.lost = outcome.lost;
  recovery.ended_ns = wall_clock_ns();
  recovery.began_ns = recovery.ended_ns - outcome.recovery_ns;
  world->report().count_touched(name);
  world->report().note_recovery(std::move(recovery));
}

bool is_valid_buffer(int count, MPI_Datatype datatype) {
  if (count < 0 || datatype == MPI_DATATYPE_NULL) return false;
  return World::current() == nullptr || is_committed(datatype);
}

bool is_in_place_wrongly(const void* sendbuf, const void* recvbuf, int root, MPI_Comm comm) {
  if (root < 0) return recvbuf == MPI_IN_PLACE;
  if (recvbuf != MPI_IN_PLACE && sendbuf != MPI_IN_PLACE) return false;
  const QuietErrors quiet;
  int rank = MPI_PROC_NULL;
  MPI_Comm_rank(comm, &rank);
  return (rank == root ? recvbuf : sendbuf) == MPI_IN_PLACE;
}

// MPI says of no elements too whether it has the operator for them; 3 ns in Open MPI 5.0. Its error
// goes to the handler of MPI_COMM_WORLD, wherever the operation is.
bool is_valid_reduction(int count, MPI_Datatype datatype, MPI_Op op) {
  if (!is_valid_buffer(count, datatype) || op == MPI_OP_NULL) return false;
  if (World::current() == nullptr) return true;
  const QuietErrors quiet;
  std::byte none[2]{};
  return PMPI_Reduce_local(&none[0], &none[1], 0, datatype, op) == MPI_SUCCESS;
}

}  // namespace resprout::shim
