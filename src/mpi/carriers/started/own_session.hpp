// The session of one persistent collective. MPI matches persistent collectives by the order in
// which they are made, and ranks may start them in any (MPI 4.1, section 6.13): operations of one
// session begin in the same order everywhere, so each has one of its own, of the same members, and
// revoked with that of its communicator.
// Thread rule: under the engine's lock.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/engine.hpp"

namespace resprout::shim {

class OwnSession {
 public:
  // `of`: that of the communicator, of these world ranks; `number`: of its persistent collectives,
  // which all its members make in the same order, from 1.
  OwnSession(runtime::Lock& lock, runtime::Session& of, std::uint64_t number,
             const std::vector<int>& world_ranks);
  OwnSession(const OwnSession&) = delete;
  OwnSession& operator=(const OwnSession&) = delete;

  runtime::Session& session() const { return session_; }
  bool has_communicator() const { return of_ != nullptr; }
  // The communicator goes before the request: what was started has come to its end when this
  // returns, and may be started again.
  void leave_communicator(runtime::Lock& lock);
  // The request goes. Waits for nobody: others may start theirs, or free it, later.
  void close(runtime::Lock& lock);

 private:
  runtime::Session* of_;  // null: gone
  runtime::Session& session_;
};

}  // namespace resprout::shim
