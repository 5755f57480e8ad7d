// See outcome.hpp.
#include "sim/decision_log/outcome.hpp"

#include <algorithm>

namespace resprout::sim {
namespace {

bool agree(const DecisionLogOutcome& a, const DecisionLogOutcome& b, std::uint64_t count) {
  return std::equal(a.log.begin(), a.log.begin() + static_cast<std::ptrdiff_t>(count),
                    b.log.begin());
}

std::optional<std::string> check_survivor(const DecisionLogOutcome& survivor,
                                          std::span<const DecisionLogOutcome> all) {
  if (!survivor.has_ended) return "never ended";
  for (std::size_t i = 0; i < all.size(); ++i) {
    const DecisionLogOutcome& other = all[i];
    const std::string name = std::to_string(i);
    if (other.shown > survivor.length) return "does not know what " + name + " has shown";
    if (!agree(survivor, other, other.shown)) return "contradicts what " + name + " has shown";
    if (!other.is_survivor) continue;
    if (other.length != survivor.length || !agree(survivor, other, other.length))
      return "has another log than " + name;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> check_decision_log(std::span<const DecisionLogOutcome> outcomes,
                                              std::uint64_t window) {
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    if (!outcomes[i].is_survivor) continue;
    auto wrong = check_survivor(outcomes[i], outcomes);
    if (!wrong && outcomes[i].held_max > window) wrong = "held more than its window";
    if (wrong) return "replica " + std::to_string(i) + " " + *wrong;
  }
  return std::nullopt;
}

}  // namespace resprout::sim
