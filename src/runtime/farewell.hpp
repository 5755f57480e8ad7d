// The end of a revoked session that this process has closed: when its last living member has closed
// it too, nobody can look at what was said in it any more, and its memory is given back.
//
// Plan B (Revoke), section 3.3, has such a barrier in the background of MPI_Comm_free, so that a
// context identifier can be used again. Here it is one operation of a session of its own, for which
// nobody waits: a member that never closes keeps the memory, and nothing else.
//
// Thread rule: under the engine's lock.
#pragma once

#include "runtime/started.hpp"

namespace resprout::runtime {

class Farewell {
 public:
  // `gathering`: of the same members, for nothing else.
  Farewell(Session& revoked, Session& gathering)
      : revoked_(revoked), gathering_(gathering), barrier_(gathering) {
    barrier_.barrier();
  }

  // True: it is over.
  bool advance() {
    if (!barrier_.advance(nullptr)) return false;
    revoked_.give_back_memory();
    return true;
  }

  Session& revoked() const { return revoked_; }
  Session& gathering() const { return gathering_; }

 private:
  Session& revoked_;
  Session& gathering_;
  Started barrier_;
};

}  // namespace resprout::runtime
