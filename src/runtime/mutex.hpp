// Mutexes of which clang checks that who touches what they guard has them (-Wthread-safety).
//
//   Mutex mutex_;
//   std::vector<int> news_ RESPROUT_GUARDED_BY(mutex_);
//   void take_first() RESPROUT_REQUIRES(mutex_);
//
// Other compilers see a std::mutex, and no annotation. The engine's lock is no such mutex: whoever
// has it shows it, as an argument (Progress::Lock).
#pragma once

#include <mutex>
#include <utility>

#ifdef __clang__
#  define RESPROUT_ANNOTATION(what) __attribute__((what))
#else
#  define RESPROUT_ANNOTATION(what)
#endif

// Of a class: it is a mutex, or holds one from its constructor to its destructor.
#define RESPROUT_CAPABILITY RESPROUT_ANNOTATION(capability("mutex"))
#define RESPROUT_SCOPED_CAPABILITY RESPROUT_ANNOTATION(scoped_lockable)
// Of a field: it is touched, or what it points to, only by who has this mutex.
#define RESPROUT_GUARDED_BY(mutex) RESPROUT_ANNOTATION(guarded_by(mutex))
#define RESPROUT_POINTEE_GUARDED_BY(mutex) RESPROUT_ANNOTATION(pt_guarded_by(mutex))
// Of a function: it is called by who has these mutexes, or by who has not, takes them, leaves them.
#define RESPROUT_REQUIRES(...) RESPROUT_ANNOTATION(requires_capability(__VA_ARGS__))
#define RESPROUT_EXCLUDES(...) RESPROUT_ANNOTATION(locks_excluded(__VA_ARGS__))
#define RESPROUT_ACQUIRE(...) RESPROUT_ANNOTATION(acquire_capability(__VA_ARGS__))
#define RESPROUT_TRY_ACQUIRE(...) RESPROUT_ANNOTATION(try_acquire_capability(__VA_ARGS__))
#define RESPROUT_RELEASE(...) RESPROUT_ANNOTATION(release_capability(__VA_ARGS__))
// Of a function that does what the check cannot follow; it says why.
#define RESPROUT_NOT_CHECKED RESPROUT_ANNOTATION(no_thread_safety_analysis)

namespace resprout::runtime {

class RESPROUT_CAPABILITY Mutex {
 public:
  void lock() RESPROUT_ACQUIRE() { mutex_.lock(); }
  bool try_lock() RESPROUT_TRY_ACQUIRE(true) { return mutex_.try_lock(); }
  void unlock() RESPROUT_RELEASE() { mutex_.unlock(); }

 private:
  std::mutex mutex_;
};

// Has a mutex while it lives, but from unlock() to lock(). `M`: Mutex, or what locks like it.
template <typename M>
class RESPROUT_SCOPED_CAPABILITY MutexLock {
 public:
  explicit MutexLock(M& mutex) RESPROUT_ACQUIRE(mutex) : mutex_(mutex) { mutex_.lock(); }
  // Of one that this thread has taken.
  MutexLock(M& mutex, std::adopt_lock_t /*it has it*/) RESPROUT_REQUIRES(mutex) : mutex_(mutex) {}
  // For functions that return one.
  MutexLock(MutexLock&& other) noexcept
      : mutex_(other.mutex_), has_it_(std::exchange(other.has_it_, false)) {}
  ~MutexLock() RESPROUT_RELEASE() {
    if (has_it_) mutex_.unlock();
  }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;
  MutexLock& operator=(MutexLock&&) = delete;

  void lock() RESPROUT_ACQUIRE() {
    mutex_.lock();
    has_it_ = true;
  }
  void unlock() RESPROUT_RELEASE() {
    mutex_.unlock();
    has_it_ = false;
  }

 private:
  M& mutex_;
  bool has_it_ = true;
};

}  // namespace resprout::runtime
