// The time, read only where somebody needs it: mostly nothing waits for a moment before a process
// is lost.
//
// Thread rule: `read` from any thread, all else under the engine's lock.
#pragma once

#include <time.h>

#include "core/time.hpp"

namespace resprout::runtime {

class Clock {
 public:
  // Nanoseconds since some moment in the past; never goes back.
  static Time read() {
    timespec time{};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return {time.tv_sec * 1000000000 + time.tv_nsec};
  }

  // If nobody needs the time, the one that was read last.
  Time now(bool is_needed) {
    if (is_needed || is_always_needed_) time_ = read();
    return time_;
  }
  // From here on every `now` reads the time.
  void need_always() { is_always_needed_ = true; }

 private:
  Time time_ = read();
  bool is_always_needed_ = false;
};

}  // namespace resprout::runtime
