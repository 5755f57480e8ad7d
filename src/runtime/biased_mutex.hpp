// A mutex that costs its owner a store and a load.
//
// One thread of the program makes nearly all calls; the progress thread looks in now and then. An
// ordinary mutex makes the former pay two locked instructions a call, each of which waits until all
// that it has stored so far, into the rings of shared memory above all, is visible to everybody.
// Here the thread that locks first becomes the owner. Others pay for it: they claim the mutex and
// have the kernel run a barrier on all threads (membarrier), so that either the owner sees the
// claim or they see that it is inside.
//
// Invariants
//  1. Whoever is inside holds `mutex_`, or is the owner and came in while nobody claimed it.
//  2. Who claims it holds `mutex_`.
// Another thread than the owner that locks (not: tries to) ends the ownership for good: the program
// has several threads that communicate. Where the kernel has no membarrier, and under a thread
// sanitizer, which does not know it, the owner has no privilege.
//
// Thread rule: any thread, as std::mutex; not recursive.
#pragma once

#include <linux/membarrier.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <mutex>

namespace resprout::runtime {

class BiasedMutex {
 public:
  BiasedMutex() = default;
  BiasedMutex(const BiasedMutex&) = delete;
  BiasedMutex& operator=(const BiasedMutex&) = delete;

  void lock() {
    if (is_owner() || maybe_own()) {
      if (!enter()) mutex_.lock();
      return;
    }
    mutex_.lock();
    claim();
    is_claimed_for_good_ = true;
    while (is_inside_.load(std::memory_order_acquire)) sched_yield();
  }

  bool try_lock() {
    if (is_owner()) return enter() || mutex_.try_lock();
    if (!mutex_.try_lock()) return false;
    claim();
    if (!is_inside_.load(std::memory_order_acquire)) return true;
    release();
    return false;
  }

  void unlock() {
    if (is_owner() && is_inside_.load(std::memory_order_relaxed))
      is_inside_.store(false, std::memory_order_release);
    else
      release();
  }

 private:
  // Something that no other living thread has.
  static const void* this_thread() {
    thread_local char place;
    return &place;
  }

  bool is_owner() const { return owner_.load(std::memory_order_relaxed) == this_thread(); }
  bool maybe_own() {
    const void* nobody = nullptr;
    return owner_.compare_exchange_strong(nobody, this_thread(), std::memory_order_relaxed);
  }

  static bool can_be_owned() {
#if defined(__SANITIZE_THREAD__)
    return false;
#else
    return syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
#endif
  }

  // REQUIRES: this thread is the owner. False: somebody claims the mutex.
  bool enter() {
    is_inside_.store(true, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (!is_claimed_.load(std::memory_order_acquire)) return true;
    is_inside_.store(false, std::memory_order_release);
    return false;
  }

  // REQUIRES: this thread holds mutex_, and is not the owner.
  void claim() {
    if (is_claimed_.load(std::memory_order_relaxed)) return;
    is_claimed_.store(true, std::memory_order_relaxed);
    syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
  }

  // REQUIRES: this thread holds mutex_.
  void release() {
    if (!is_claimed_for_good_) is_claimed_.store(false, std::memory_order_release);
    mutex_.unlock();
  }

  std::mutex mutex_;
  std::atomic<const void*> owner_{nullptr};
  std::atomic<bool> is_inside_{false};          // the owner is, without mutex_
  bool is_claimed_for_good_ = !can_be_owned();  // guarded by mutex_
  std::atomic<bool> is_claimed_{is_claimed_for_good_};
};

}  // namespace resprout::runtime
