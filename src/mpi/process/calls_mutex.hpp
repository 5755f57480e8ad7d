// Guards what only calls of the program touch, in its own threads.
//
// Unless MPI was asked for MPI_THREAD_MULTIPLE the program sees to it that no two of its calls
// overlap (MPI 3.1, section 12.4.3), and there is nothing to lock: with several locks in each call
// that is a part of what small messages cost.
// Thread rule: not from threads of Resprout's own.
#pragma once

#include <atomic>

#include "runtime/mutex.hpp"

namespace resprout::shim {

class RESPROUT_CAPABILITY CallsMutex {
 public:
  // The check takes it for locked in any case.
  // REQUIRES, all: nobody says meanwhile whether calls may overlap.
  void lock() RESPROUT_ACQUIRE() RESPROUT_NOT_CHECKED {
    if (may_overlap.load(std::memory_order_relaxed)) mutex_.lock();
  }
  void unlock() RESPROUT_RELEASE() RESPROUT_NOT_CHECKED {
    if (may_overlap.load(std::memory_order_relaxed)) mutex_.unlock();
  }

  // What MPI has granted; until then they may. REQUIRES: no other thread calls MPI.
  static void note_thread_level();

 private:
  static inline std::atomic<bool> may_overlap = true;

  runtime::Mutex mutex_;
};

}  // namespace resprout::shim
