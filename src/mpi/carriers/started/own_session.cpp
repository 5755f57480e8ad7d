#include "mpi/carriers/started/own_session.hpp"

#include "mpi/carriers/shared_slots/communicator_slots.hpp"
#include "mpi/handles/communicators/departures.hpp"
#include "mpi/process/world.hpp"

namespace resprout::shim {
namespace {

// Tells them apart from the sessions of communicators, which are counted.
constexpr std::uint64_t for_persistent = std::uint64_t{1} << 62;

}  // namespace

OwnSession::OwnSession(runtime::Lock& lock, Communicator& communicator, std::uint64_t number)
    : communicator_(&communicator),
      session_(World::current()->engine().open_session(
          lock, communicator.session->child(for_persistent + number), communicator.world_ranks)) {
  communicator.session->bind(session_);
  carrying_.session = &session_;
}

// What the program wants of its communicator may have changed since the last start.
Communicator& OwnSession::carrying() {
  if (communicator_ != nullptr) {
    carrying_.missing_values = communicator_->missing_values;
    carrying_.broadcast = communicator_->broadcast;
    carrying_.collectives = communicator_->collectives;
  }
  return carrying_;
}

void OwnSession::leave_communicator(runtime::Lock& lock) {
  session_.finish_tasks(lock);
  if (communicator_ != nullptr) communicator_->session->release(session_);
  communicator_ = nullptr;
}

// Where nothing was ever said nobody has to hear that it ends.
void OwnSession::close(runtime::Lock& lock) {
  if (communicator_ != nullptr) communicator_->session->release(session_);
  communicator_ = nullptr;
  leave_shared_slots(carrying_);
  if (session_.has_begun())
    depart(session_);
  else
    World::current()->engine().close_session(lock, session_);
}

}  // namespace resprout::shim
