#include "mpi/carriers/started/small_collective.hpp"

#include "mpi/carriers/shared_slots/crossing.hpp"
#include "mpi/process/world.hpp"
#include "runtime/engine.hpp"

namespace resprout::shim {

bool SmallCollective::is_over_at_head() {
  run_.begin(given());
  return run_.advance_at_head(*this) == SlotRun::State::done && run_.code() == MPI_SUCCESS;
}

bool SmallCollective::is_over_at_start() {
  if (!is_free_at_head(*World::current(), communicator_) || !run_.is_carried() ||
      !is_over_at_head())
    return false;
  run_.note_contributors();
  note_well_over();
  return true;
}

bool SmallCollective::is_for_program() const {
  if (!is_left_by_shared_slots_) return Collective::is_for_program();
  return other_ == nullptr || other_->is_for_program();
}

bool SmallCollective::advance() {
  if (!is_left_by_shared_slots_ && !run_.has_begun()) {
    is_left_by_shared_slots_ = !run_.is_carried();
    if (!is_left_by_shared_slots_) run_.begin(given());
  }
  if (is_left_by_shared_slots_) return advance_other();
  switch (run_.advance(*this)) {
    case SlotRun::State::goes_on:
      return false;
    case SlotRun::State::done:
      run_.note_contributors();
      end_with(run_.outcome());
      return true;
    case SlotRun::State::over:
      break;
  }
  is_left_by_shared_slots_ = true;
  return advance_other();
}

// Made by the program's threads alone.
bool SmallCollective::advance_other() {
  if (!other_) {
    if (World::current()->engine().is_lifelines()) return false;
    other_ = other();
    if (run_.is_last()) communicator_.last = &session();
    Call of_other = call();
    of_other.note_end = nullptr;
    other_->set_call(of_other);
  }
  if (!other_->advance()) return false;
  end_as(*other_);
  return true;
}

}  // namespace resprout::shim
