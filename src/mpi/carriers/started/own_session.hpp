// The session of one persistent collective, and its shared slots. MPI matches persistent
// collectives by the order in which they are made, and ranks may start them in any (MPI 4.1,
// section 6.13): operations of one session begin in the same order everywhere, so each has one of
// its own, of the same members, and revoked with that of its communicator. Thread rule: under the
// engine's lock.
#pragma once

#include <cstdint>

#include "mpi/handles/communicators/communicator.hpp"
#include "runtime/engine.hpp"

namespace resprout::shim {

class OwnSession {
 public:
  // `number`: of the communicator's persistent collectives, which all its members make in the same
  // order, from 1. REQUIRES: `communicator` has a session.
  OwnSession(runtime::Lock& lock, Communicator& communicator, std::uint64_t number);
  OwnSession(const OwnSession&) = delete;
  OwnSession& operator=(const OwnSession&) = delete;

  runtime::Session& session() const { return session_; }
  bool has_communicator() const { return communicator_ != nullptr; }
  // What stands for the communicator where the collective is carried: there is no handle of it.
  Communicator& carrying();
  // The communicator goes before the request: what was started has come to its end when this
  // returns, and may be started again.
  void leave_communicator(runtime::Lock& lock);
  // The request goes. Waits for nobody: others may start theirs, or free it, later.
  void close(runtime::Lock& lock);

 private:
  Communicator* communicator_;  // null: gone
  runtime::Session& session_;
  Communicator carrying_;
};

}  // namespace resprout::shim
