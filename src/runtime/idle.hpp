// How a thread waits for others: spin where there are cores to spare, then yield for long, then
// sleep.
//
// On an oversubscribed host this decides everything: a rank that spins keeps the one it waits for
// off the processor, a rank that sleeps at once pays a wake-up per message. The system wakes who
// sleeps for a message of another host, and before those who have only yielded: where processes
// outnumber cores, such a wait is a sleep after a few looks.
#pragma once

#include <poll.h>
#include <sched.h>
#include <time.h>

#include <algorithm>

namespace resprout::runtime {

struct IdleStrategy {
  int spins = 0;       // looks without giving up the processor
  int yields = 20000;  // looks with sched_yield in between, then sleep
  long sleep_ns_max = 1000000;

  // The same for who waits for messages of other hosts, too.
  constexpr IdleStrategy between_hosts() const {
    IdleStrategy strategy = *this;
    if (is_crowded()) strategy.yields = 2;
    return strategy;
  }
  // There are more processes than cores.
  constexpr bool is_crowded() const { return spins == 0; }
};

// The strategy for `local_ranks` processes on `cores` processors. Spinning pays as long as every
// rank has a core.
constexpr IdleStrategy idle_strategy(int local_ranks, int cores) {
  IdleStrategy strategy;
  if (local_ranks <= cores) strategy.spins = 200;
  return strategy;
}

// Sleeps for `ns` nanoseconds, less than a second, or until the descriptor is readable.
inline void sleep_until_readable(int fd, long ns) {
  pollfd one{fd, POLLIN, 0};
  const timespec time{0, ns};
  ppoll(&one, 1, &time, nullptr);
}

class Idle {
 public:
  explicit Idle(IdleStrategy strategy) : strategy_(strategy) {}

  void reset() { looks_ = 0; }
  // True if the next pause gives up the processor, so that locks should be released first.
  bool is_spinning() const { return looks_ < strategy_.spins; }
  // True if it sleeps, as nothing has come for long.
  bool is_sleeping() const { return looks_ >= strategy_.spins + strategy_.yields; }

  void pause() {
    pause([](long ns) {
      const timespec nap{0, ns};
      nanosleep(&nap, nullptr);
    });
  }
  // `sleep(ns)`: how, where it comes to that.
  template <typename Sleep>
  void pause(const Sleep& sleep) {
    const int look = looks_ < strategy_.spins + strategy_.yields + 64 ? looks_++ : looks_;
    if (look < strategy_.spins) {
      relax();
    } else if (look < strategy_.spins + strategy_.yields) {
      sched_yield();
    } else {
      const long doubled = 20000L << std::min(look - strategy_.spins - strategy_.yields, 6);
      sleep(std::min(doubled, strategy_.sleep_ns_max));
    }
  }

 private:
  static void relax() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
  }

  IdleStrategy strategy_;
  int looks_ = 0;
};

}  // namespace resprout::runtime
