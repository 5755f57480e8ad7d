#include "mpi/carriers/started/collective.hpp"

#include "mpi/carriers/call.hpp"
#include "mpi/handles/errors/codes.hpp"
#include "mpi/policies/replicas/substituted_collective.hpp"
#include "mpi/process/options.hpp"
#include "mpi/process/world.hpp"
#include "openmpi/ulfm.hpp"
#include "runtime/engine.hpp"

namespace resprout::shim {

bool Collective::advance() {
  if (!has_begun_) begin(started_);
  has_begun_ = true;
  while (is_ready(started_) &&
         started_.advance([this](std::span<const std::byte> result) { take(result); })) {
    outcome_ = outcome_ + started_.outcome();
    if (go_on(started_, outcome_)) continue;
    end();
    return true;
  }
  return false;
}

int Collective::run(CollectiveCall& call) {
  World::current()->engine().wait_until(call.lock(), [&] { return advance(); });
  return call.finish(outcome_, code());
}

void Collective::end() {
  if (call_.ticket == 0) return;  // somebody waits, and will see
  const bool lacks_members = !session_.is_whole();
  const bool is_error_wanted = World::current()->options().on_loss == OnLoss::error;
  result_ = code();
  if (result_ == MPI_SUCCESS && outcome_.is_mismatched) result_ = MPI_ERR_TRUNCATE;
  if (call_.substituted) {
    call_.substituted->note(session_, outcome_);
  } else if (result_ == MPI_SUCCESS && is_of_session() &&
             (!outcome_.is_delivered ||
              (is_error_wanted && is_harmed_by_loss() && (lacks_members || outcome_.is_touched))))
    result_ = proc_failed();
  if (session_.is_revoked()) result_ = ulfm::revoked_class();
  if (outcome_.is_touched)
    note_recovery(call_.comm, call_.name, call_.number, session_.id(), outcome_);
  tell_end();
}

void Collective::tell_end() {
  is_over_ = true;
  if (call_.note_end != nullptr) call_.note_end(call_);
}

}  // namespace resprout::shim
