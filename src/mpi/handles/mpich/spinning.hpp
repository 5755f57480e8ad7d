// Finds that a thread spins in a library which never yields the processor, as MPI_Finalize of
// Intel MPI does in MPIDU_Init_shm_barrier.
//
// A timer of the thread's own processor time interrupts it. So a thread that sleeps in a system
// call is never disturbed, and one that is through at once hardly ever.
//
// 1. The thread is interrupted in the library's own code and not in what the library has called:
//    it holds no lock of the C library.
// Thread rule: made and destroyed by the thread that it watches. One at a time in a process.
#pragma once

#include <signal.h>
#include <time.h>

namespace resprout::shim {

class SpinWatch {
 public:
  // `address`: of any function of the library. `look`: called by the watched thread itself where
  // it has been found in that library so many times in a row that it spins; may leave by a jump.
  SpinWatch(void* address, void (*look)());
  ~SpinWatch();
  SpinWatch(const SpinWatch&) = delete;
  SpinWatch& operator=(const SpinWatch&) = delete;

 private:
  int signal_ = 0;  // 0: nothing is watched
  timer_t timer_{};
  struct sigaction before_{};
  sigset_t blocked_before_{};
};

}  // namespace resprout::shim
