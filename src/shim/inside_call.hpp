// Whether a thread is inside of a call of MPI: what the program does there, as in an operator of
// its own, must not wait for anybody.
#pragma once

#include "shim/fast_thread_local.hpp"

namespace resprout::shim {

class InsideCall {
 public:
  InsideCall() { ++depth; }
  ~InsideCall() { --depth; }
  InsideCall(const InsideCall&) = delete;
  InsideCall& operator=(const InsideCall&) = delete;

  static bool is_any() { return depth > 0; }

 private:
  constinit static inline RESPROUT_FAST_THREAD_LOCAL int depth = 0;
};

}  // namespace resprout::shim
