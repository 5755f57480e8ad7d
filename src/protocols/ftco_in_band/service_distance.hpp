// Which distance a process attends to in a step.
//
// FTCO, appendix A: a nepotistic service-distance function starves nobody and favors the near.
// Distance d gets the share 2^-d of all steps: at random (RSD, r = 1/2), or in intervals that
// repeat (DISD): half of the steps of an interval for distance 1, a quarter for 2, and so on. The
// last step of an interval stands for all that would come behind it, and they share it out between
// them in the same way, interval by interval.
//
// Both are functions of the step alone, so that a process that has nothing to do may sleep.
// Thread rule: pure functions.
#pragma once

#include <bit>
#include <cstdint>

#include "core/random.hpp"

namespace resprout::protocols {

enum class Service : std::uint8_t { randomized, intervals };

// `stream` tells processes and runs apart. >= 1.
constexpr std::int32_t randomized_distance(std::uint64_t stream, std::uint64_t step) {
  std::uint64_t state = stream ^ step * 0xd1342543de82ef95u;
  return 1 + std::countl_zero(splitmix64(state) | 1);
}

// The steps of one interval: twice for each neighbor's DATA and ACK, since half of them are for
// distance 1. REQUIRES: neighbors >= 1.
constexpr std::int64_t interval_of(std::int32_t neighbors) { return 4 * std::int64_t{neighbors}; }

// >= 1. REQUIRES: interval >= 1.
constexpr std::int32_t interval_distance(std::int64_t interval, std::uint64_t step) {
  const auto length = static_cast<std::uint64_t>(interval);
  const std::uint64_t left = length - step % length;  // this step included
  std::int32_t distance = 1;
  // Distance d ends where length / 2^d steps are left.
  while (left > 1 && left <= length >> distance) ++distance;
  if (left > 1) return distance;
  const auto last = static_cast<std::int32_t>(std::bit_width(length));
  return last + std::countr_zero(step / length + 1);
}

}  // namespace resprout::protocols
