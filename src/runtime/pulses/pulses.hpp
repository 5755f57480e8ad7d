// Who of this host has died, as the kernel marks it in memory that all share: a word for each
// process, which is a robust futex that a thread of the process holds as long as it lives.
//
// The kernel marks the word in the first steps of that thread's end, before it takes the process's
// memory apart, which takes milliseconds on a host whose cores are busy; only after that a pidfd
// shows the death. Looking at the words costs a load of a cache line for 16 processes, so whoever
// waits for others can do it in every round.
//
// Other threads of the process may be running on another core in that moment. Each has been told by
// then that it is killed, so that it runs no more of the program once the kernel has interrupted
// it; `settle` sees to that.
//
// Thread rule: `Pulse` belongs to the thread that holds it; all else from any thread of any
// process.
#pragma once

#include <linux/futex.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

namespace resprout::runtime {

class Pulses {
 public:
  // What each process takes, all zero at first: nobody holds it, and so it never stops.
  static constexpr std::size_t bytes_each = sizeof(std::uint32_t);

  // Of nobody.
  Pulses() = default;
  // `world_ranks[i]` has the i-th word. REQUIRES: `memory` is 64-byte aligned, and outlives this as
  // `world_ranks` does.
  Pulses(std::byte* memory, std::span<const int> world_ranks)
      : words_(reinterpret_cast<std::uint32_t*>(memory)), world_ranks_(world_ranks) {}

  // How many have died so far, of those who held their words.
  unsigned stopped() const {
    unsigned count = 0;
    for (std::size_t i = 0; i < world_ranks_.size(); ++i) count += has_died(word(i)) ? 1U : 0U;
    return count;
  }
  bool has_stopped(int world_rank) const {
    for (std::size_t i = 0; i < world_ranks_.size(); ++i)
      if (world_ranks_[i] == world_rank) return has_died(word(i));
    return false;
  }
  template <typename Visit>  // (world rank)
  void for_each_stopped(Visit visit) const {
    for (std::size_t i = 0; i < world_ranks_.size(); ++i)
      if (has_died(word(i))) visit(world_ranks_[i]);
  }

  // When it returns, whoever was seen to have stopped before runs nothing of its program any more:
  // what it has not written into shared memory it never will.
  static void settle();

 private:
  friend class Pulse;
  static bool has_died(std::uint32_t word) { return (word & FUTEX_OWNER_DIED) != 0; }
  std::uint32_t word(std::size_t i) const {
    return std::atomic_ref(words_[i]).load(std::memory_order_acquire);
  }

  std::uint32_t* words_ = nullptr;
  std::span<const int> world_ranks_;
};

// A thread's hold of its process's word. Not of a thread on which the program's code runs: the
// kernel knows one list of robust futexes for each thread, and this takes the C library's place.
class Pulse {
 public:
  Pulse() = default;
  ~Pulse() { stop(); }
  Pulse(const Pulse&) = delete;
  Pulse& operator=(const Pulse&) = delete;

  // Holds the word of `world_rank` from here on. Nothing happens if it has none, or where the
  // system cannot do what `settle` promises. Takes up to some ten milliseconds.
  void start(const Pulses& pulses, int world_rank);
  // The process leaves: its end is no death.
  void stop();

 private:
  robust_list node_{};
  robust_list_head head_{};
  std::uint32_t* word_ = nullptr;
};

}  // namespace resprout::runtime
