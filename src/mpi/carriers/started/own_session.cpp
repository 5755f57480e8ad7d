#include "mpi/carriers/started/own_session.hpp"

#include "mpi/handles/communicators/departures.hpp"
#include "mpi/process/world.hpp"

namespace resprout::shim {
namespace {

// Tells them apart from the sessions of communicators, which are counted.
constexpr std::uint64_t for_persistent = std::uint64_t{1} << 62;

}  // namespace

OwnSession::OwnSession(runtime::Lock& lock, runtime::Session& of, std::uint64_t number,
                       const std::vector<int>& world_ranks)
    : of_(&of),
      session_(World::current()->engine().open_session(lock, of.child(for_persistent + number),
                                                       world_ranks)) {
  of.bind(session_);
}

void OwnSession::leave_communicator(runtime::Lock& lock) {
  session_.finish_tasks(lock);
  if (of_ != nullptr) of_->release(session_);
  of_ = nullptr;
}

// Where nothing was ever said nobody has to hear that it ends.
void OwnSession::close(runtime::Lock& lock) {
  if (of_ != nullptr) of_->release(session_);
  of_ = nullptr;
  if (session_.has_begun())
    depart(session_);
  else
    World::current()->engine().close_session(lock, session_);
}

}  // namespace resprout::shim
