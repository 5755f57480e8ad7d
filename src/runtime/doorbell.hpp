// How a process calls all others of its host: a count in memory that they share.
//
// Looking whether somebody has rung costs a load, so it can be done where looking into all that
// might have arrived would cost too much: in every round of a loop that waits for something else.
// The bell wakes all who nap until it rings. Where nobody naps, ringing makes no system call.
//
// Thread rule: all from any thread of any process. A process that is killed at any instruction
// blocks nobody.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace resprout::runtime {

class Doorbell {
 public:
  // What it takes, all zero at first.
  static constexpr std::size_t bytes = 2 * sizeof(std::uint32_t);

  // One that nobody rings.
  Doorbell() = default;
  // REQUIRES: `memory` is 4-byte aligned and outlives the bell.
  explicit Doorbell(std::byte* memory) : words_(reinterpret_cast<std::uint32_t*>(memory)) {}

  // How often it was rung, modulo 2^32. Who sees a ring sees what was written before it.
  std::uint32_t rings() const {
    return words_ == nullptr ? 0 : count().load(std::memory_order_acquire);
  }

  // As `rings` right after it.
  std::uint32_t ring() const {
    if (words_ == nullptr) return 0;
    const std::uint32_t rings = count().fetch_add(1) + 1;
    if (nappers().load() != 0)
      syscall(SYS_futex, words_, FUTEX_WAKE, std::numeric_limits<int>::max(), nullptr, nullptr, 0);
    return rings;
  }

  // Sleeps for `ns` nanoseconds, less than a second, or until it is rung; not at all if it was rung
  // since `rings` was read.
  void nap(std::uint32_t rings, long ns) const {
    const timespec time{0, ns};
    if (words_ == nullptr) {
      nanosleep(&time, nullptr);
      return;
    }
    nappers().fetch_add(1);
    syscall(SYS_futex, words_, FUTEX_WAIT, rings, &time, nullptr, 0);
    nappers().fetch_sub(1);
  }

 private:
  std::atomic_ref<std::uint32_t> count() const { return std::atomic_ref(words_[0]); }
  std::atomic_ref<std::uint32_t> nappers() const { return std::atomic_ref(words_[1]); }

  std::uint32_t* words_ = nullptr;
};

}  // namespace resprout::runtime
