// The two clocks: one that only grows, for waiting; one that people and other hosts understand, for
// reports. Thread rule: functions without state.
#pragma once

#include <time.h>

#include <cstdint>

namespace resprout::runtime {

inline std::int64_t clock_ns(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}
inline std::int64_t monotonic_ns() { return clock_ns(CLOCK_MONOTONIC); }
// As monotonic_ns, but quicker to read, and some milliseconds behind.
inline std::int64_t coarse_ns() { return clock_ns(CLOCK_MONOTONIC_COARSE); }
inline std::int64_t realtime_ns() { return clock_ns(CLOCK_REALTIME); }

}  // namespace resprout::runtime
