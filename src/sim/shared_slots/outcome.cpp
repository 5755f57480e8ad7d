// See outcome.hpp.
#include "sim/shared_slots/outcome.hpp"

#include <algorithm>

namespace resprout::sim {
namespace {

bool contradict(SlotResult a, SlotResult b) {
  return (a == SlotResult::done && b == SlotResult::over) ||
         (a == SlotResult::over && b == SlotResult::done);
}

// In what survivors know of each other.
bool disagree(const SharedSlotsOutcome& a, const SharedSlotsOutcome& b) {
  if (!a.is_survivor || !b.is_survivor) return false;
  for (std::size_t operation = 0; operation < slot_operations_bound; ++operation)
    if (a.shared_slots[operation] != 0 && b.shared_slots[operation] != 0 &&
        a.shared_slots[operation] != b.shared_slots[operation])
      return true;
  return !a.is_revoked && !b.is_revoked && a.agreed != b.agreed;
}

std::optional<std::string> compare(const SharedSlotsOutcome& a, const SharedSlotsOutcome& b) {
  for (std::size_t operation = 0; operation < slot_operations_bound; ++operation)
    for (const std::size_t part : {0, 1})
      if (a.shared_slots[operation] == b.shared_slots[operation] &&
          contradict(a.results[operation][part], b.results[operation][part]))
        return (part == 0 ? "operation " : "the rendezvous behind operation ") +
               std::to_string(operation + 1);
  return std::nullopt;
}

}  // namespace

std::optional<std::string> check_shared_slots(std::span<const SharedSlotsOutcome> outcomes) {
  const bool is_anybody_lost =
      std::any_of(outcomes.begin(), outcomes.end(), [](auto& all) { return !all.is_survivor; });
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    const std::string name = "member " + std::to_string(i);
    if (outcomes[i].is_survivor && !outcomes[i].has_ended) return name + " waits for ever";
    if (outcomes[i].failed && !is_anybody_lost) return name + " is over, though nobody is lost";
    for (std::size_t other = 0; other < i; ++other) {
      const std::string both = "members " + std::to_string(other) + " and " + std::to_string(i);
      if (disagree(outcomes[i], outcomes[other])) return both + " disagree on who takes part";
      if (const auto where = compare(outcomes[i], outcomes[other]))
        return *where + " is done at one of " + both + " and over at the other";
    }
  }
  return std::nullopt;
}

}  // namespace resprout::sim
