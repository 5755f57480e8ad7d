// When the processes of a reduction tree send: a fault-free broadcast down the same tree, played
// backwards.
//
// If the broadcast starts at 0 and ends at T, and v is colored at t(v), then v sends its partial
// result at T - t(v). The receive of v's parent then takes place when v's own send did, played
// backwards; so ports are as free as they were, and everything that a process is sent is there
// before it sends itself. Thread rule: pure functions.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/time.hpp"
#include "topology/tree.hpp"

namespace resprout::protocols {

// Which child of its parent `rank` is. REQUIRES: rank is not the root. O(log children) calls.
constexpr std::int32_t child_index(const topology::Tree& tree, std::int32_t rank) {
  const std::int32_t parent = tree.parent(rank);
  const auto is_at_or_before = [&](std::int32_t i) {  // children are numbered upwards
    const std::int32_t child = tree.child(parent, i);
    return child >= 0 && child <= rank;
  };
  std::int32_t low = 0;
  std::int32_t high = 1;
  for (; is_at_or_before(high); high *= 2) low = high;
  while (high - low > 1) {
    const std::int32_t middle = low + (high - low) / 2;
    (is_at_or_before(middle) ? low : high) = middle;
  }
  return low;
}

// When a fault-free broadcast from time 0 on has colored `rank`. `hop`: a message without
// contention; `spacing`: between the starts of two sends of one process.
constexpr Duration colored_after(const topology::Tree& tree, std::int32_t rank, Duration hop,
                                 Duration spacing) {
  Duration sum = 0;
  for (; rank != 0; rank = tree.parent(rank)) sum += child_index(tree, rank) * spacing + hop;
  return sum;
}

// How long a correction of `distance` messages to each side takes, and keeps the ports busy: one
// step after another, since each process receives one message a step.
constexpr Duration correction_time(std::int32_t procs, std::int32_t distance, Duration hop,
                                   Duration spacing) {
  const std::int64_t messages = std::min(2 * std::int64_t{distance}, std::int64_t{procs} - 1);
  return messages == 0 ? 0 : (messages - 1) * spacing + std::max(hop, spacing);
}

}  // namespace resprout::protocols
