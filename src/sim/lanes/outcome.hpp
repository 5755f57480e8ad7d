// What the operations of a communicator with lanes have come to when nothing more happens, and
// whether that is what they promise.
// Thread rule: pure functions.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace resprout::sim {

// More than any world lets a program have.
inline constexpr std::size_t lane_operations_bound = 32;

enum class LaneResult : std::uint8_t {
  none,      // it has not come so far
  done,      // with what was written for this operation, and by all who had to
  over,      // and so are the lanes
  given_up,  // revoked: whatever the others say
};

struct LanesOutcome {
  bool is_survivor = false;  // lives, and was never suspected by anybody
  bool failed = false;       // the lanes are over here
  bool has_ended = false;    // it waits for nothing any more
  bool is_revoked = false;   // and therefore it ended, wherever it was
  std::uint32_t agreed = 0;  // who takes part, by its last agreement: a bit of each
  // Of each operation, then of the meeting that is due behind it.
  std::array<std::array<LaneResult, 2>, lane_operations_bound> results{};
  // In the lanes of whom: a bit of each.
  std::array<std::uint32_t, lane_operations_bound> lanes{};
};

// 1. Every survivor comes to its end.
// 2. What is done at one process, whether it survives or not, is over at none, in the same lanes.
// 3. Nothing is over if nobody dies.
// 4. Survivors go over the same lanes in each operation that lanes carry, and agree at last on who
//    takes part.
std::optional<std::string> check_lanes(std::span<const LanesOutcome> outcomes);

}  // namespace resprout::sim
