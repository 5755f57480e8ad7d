// Time as protocols see it: an integer that only grows, handed in by the driver.
//
// In the simulator a tick is one LogP time step, in the real world a nanosecond of a monotonic
// clock. A protocol compares times and adds durations; it never asks what time it is.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>

namespace resprout {

using Duration = std::int64_t;  // ticks

struct Time {
  std::int64_t ticks = 0;
  constexpr auto operator<=>(const Time&) const = default;
};

constexpr Time operator+(Time time, Duration by) { return {time.ticks + by}; }
constexpr Duration operator-(Time later, Time earlier) { return later.ticks - earlier.ticks; }

inline constexpr Time never{std::numeric_limits<std::int64_t>::max()};

// When a machine wants to be woken, and why: the text is static and meant for a person who asks
// what everybody is waiting for.
struct Deadline {
  Time at = never;
  const char* reason = "nothing";
};

}  // namespace resprout
