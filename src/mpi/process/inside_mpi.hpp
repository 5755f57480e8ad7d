// Whether a thread is inside of a blocking call of MPI, without the engine's lock: others may need
// it for what is under way, and MPI's own progress drives that then.
//
// Thread rule: each thread has its own.
#pragma once

#include "mpi/process/fast_thread_local.hpp"

namespace resprout::shim {

// While one lives, this thread is.
class InsideMpi {
 public:
  InsideMpi() { ++depth; }
  ~InsideMpi() { --depth; }
  InsideMpi(const InsideMpi&) = delete;
  InsideMpi& operator=(const InsideMpi&) = delete;

  static bool is_any() { return depth > 0; }

 private:
  constinit static inline RESPROUT_FAST_THREAD_LOCAL int depth = 0;
};

}  // namespace resprout::shim
