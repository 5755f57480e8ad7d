// Who of this host has died, as the kernel marks it in memory that all share: a robust mutex for
// each process, which a thread of its program holds as long as it lives.
//
// The kernel marks the mutex in the first steps of that thread's end, before it takes the process's
// memory apart, which takes milliseconds on a host whose cores are busy; only after that a pidfd
// shows the death. Looking at a mark costs a load, so a process that waits can look at some in
// every round (death_mark_watch.hpp). The thread is one of the program because those are running,
// or are about to: one that sleeps has to wait for the processor before it can die.
//
// That a thread has ended does not say that its process has: the program may have ended it, or have
// started another program. Whether a signal is the reason the kernel is asked when the mark is
// seen. If it is not, the mark says nothing.
//
// Other threads of the process may be running on another core in that moment. Each has been told by
// then that it is killed, so that it runs no more of the program once the kernel has interrupted
// it; `settle` sees to that.
//
// Thread rule: `DeathMark` belongs to the thread that holds it; all else from any thread of any
// process.
#pragma once

#include <linux/futex.h>
#include <pthread.h>
#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

namespace resprout::runtime {

class DeathMarks {
 public:
  struct Owner {
    std::atomic<pid_t> pid;  // 0: its end is no death
    std::uint64_t start_time;
    std::atomic<std::int64_t> passed_at_ns;  // the latest `let_others_pass`; 0: none
  };

  // What each process takes, all zero at first: nobody holds it, and so it never stops.
  static constexpr std::size_t bytes_each = sizeof(pthread_mutex_t) + sizeof(Owner);

  // Of nobody.
  DeathMarks() = default;
  // `world_ranks[i]` has the i-th place. REQUIRES: `memory` is 64-byte aligned, and outlives this
  // as `world_ranks` does.
  DeathMarks(std::byte* memory, std::span<const int> world_ranks)
      : mutexes_(reinterpret_cast<pthread_mutex_t*>(memory)),
        owners_(reinterpret_cast<Owner*>(memory + world_ranks.size() * sizeof(pthread_mutex_t))),
        world_ranks_(world_ranks) {}

  // So many places there are, one for each process.
  std::size_t places() const { return world_ranks_.size(); }
  int world_rank(std::size_t place) const { return world_ranks_[place]; }
  // It is marked, and its process held it: the first word of the C library's mutex is the kernel's.
  bool is_marked(std::size_t place) const {
    auto& word = *reinterpret_cast<std::uint32_t*>(mutexes_ + place);
    return (std::atomic_ref(word).load(std::memory_order_acquire) & FUTEX_OWNER_DIED) != 0;
  }
  // How many are marked so far.
  unsigned marked() const {
    unsigned count = 0;
    for (std::size_t i = 0; i < places(); ++i) count += is_marked(i) ? 1U : 0U;
    return count;
  }
  template <typename Visit>  // (world rank)
  void for_each_marked(Visit visit) const {
    for (std::size_t i = 0; i < places(); ++i)
      if (is_marked(i)) visit(world_ranks_[i]);
  }
  // It is marked, and by a signal, or is no more. Some 10 us, if it is marked.
  bool has_died(int world_rank) const;

  // When it returns, no process that was seen to have died before runs its program any more. What
  // it has not written into shared memory it never will write.
  static void settle();
  // The kernel takes the dead process apart on one core, and processes that wait there cannot run.
  // The first call gives the dead process the lowest priority. That does not help while the kernel
  // owes it time for having slept. So a process on another core calls this again and again, and
  // each call moves the dead process to the caller's core, unless it was moved just now. REQUIRES:
  // has_died(world_rank).
  void let_others_pass(int world_rank) const;

  // What `count` asks of the system, while this process has one thread: then nothing is waited for.
  static void prepare();
  // From here on the end of `world_rank`, which is this process, is a death. Nothing happens where
  // the system cannot do what `settle` promises. Takes up to some ten milliseconds if nothing was
  // prepared. REQUIRES: its DeathMark was started.
  void count(int world_rank) const;
  bool counts(int world_rank) const {
    const std::size_t place = place_of(world_rank);
    return place != nobody && owners_[place].pid.load(std::memory_order_acquire) != 0;
  }

 private:
  friend class DeathMark;
  static constexpr std::size_t nobody = SIZE_MAX;
  std::size_t place_of(int world_rank) const;

  pthread_mutex_t* mutexes_ = nullptr;
  Owner* owners_ = nullptr;
  std::span<const int> world_ranks_;
};

// A thread's hold of its process's mutex.
class DeathMark {
 public:
  DeathMark() = default;
  ~DeathMark() { stop(); }
  DeathMark(const DeathMark&) = delete;
  DeathMark& operator=(const DeathMark&) = delete;

  // Holds the mutex of `world_rank` from here on. Nothing happens if it has none.
  void start(const DeathMarks& death_marks, int world_rank);
  // The process leaves: its end is no death.
  void stop();

 private:
  pthread_mutex_t* mutex_ = nullptr;
  DeathMarks::Owner* owner_ = nullptr;
};

}  // namespace resprout::runtime
