// Calls of MPI's functions that are Resprout's own: the program has not made them, so they are in
// no count, neither of the report nor of faults on purpose.
#pragma once

#include "mpi/process/fast_thread_local.hpp"

namespace resprout::shim {

// While one lives, this thread makes such calls.
class OwnCalls {
 public:
  OwnCalls() { ++depth; }
  ~OwnCalls() { --depth; }
  OwnCalls(const OwnCalls&) = delete;
  OwnCalls& operator=(const OwnCalls&) = delete;

  static bool are_made() { return depth > 0; }

 private:
  constinit static inline RESPROUT_FAST_THREAD_LOCAL int depth = 0;
};

}  // namespace resprout::shim
