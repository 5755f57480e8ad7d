// What the operations of a communicator with shared slots have come to when nothing more happens,
// and whether that is what they promise.
// Thread rule: pure functions.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace resprout::sim {

// More than any world lets a program have.
inline constexpr std::size_t slot_operations_bound = 32;

enum class SlotResult : std::uint8_t {
  none,      // it has not come so far
  done,      // with what was written for this operation, and by all who had to
  over,      // and so are the shared slots
  given_up,  // revoked: whatever the others say
};

struct SharedSlotsOutcome {
  bool is_survivor = false;  // lives, and was never suspected by anybody
  bool failed = false;       // the shared slots are over here
  bool has_ended = false;    // it waits for nothing any more
  bool is_revoked = false;   // and therefore it ended, wherever it was
  std::uint32_t agreed = 0;  // who takes part, by its last agreement: a bit of each
  // Of each operation, then of the rendezvous that is due behind it.
  std::array<std::array<SlotResult, 2>, slot_operations_bound> results{};
  // In the shared slots of whom: a bit of each.
  std::array<std::uint32_t, slot_operations_bound> shared_slots{};
};

// 1. Every survivor comes to its end.
// 2. What is done at one process, whether it survives or not, is over at none, in the same shared
//    slots.
// 3. Nothing is over if nobody dies.
// 4. Survivors go over the same shared slots in each operation that shared slots carry, and agree
//    at last on who takes part.
std::optional<std::string> check_shared_slots(std::span<const SharedSlotsOutcome> outcomes);

}  // namespace resprout::sim
