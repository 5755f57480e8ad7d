// See outcome.hpp.
#include "sim/checkers/outcome.hpp"

namespace resprout::sim {
namespace {

std::string name(std::size_t position) { return "process " + std::to_string(position); }

std::string describe(const Payload& payload) {
  std::string text = "{";
  for (std::size_t i = 0; i < 64; ++i) {
    if (payload.contributors >> i & 1) text += " " + std::to_string(i);
    if (payload.excluded >> i & 1) text += " -" + std::to_string(i);
  }
  return text + " }";
}

std::uint64_t mask_of(std::span<const Outcome> outcomes) {
  return outcomes.size() == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << outcomes.size()) - 1;
}

Verdict check_ended_once(std::span<const Outcome> outcomes) {
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    const int ends = outcomes[i].delivered + outcomes[i].failed;
    if (ends > 1) return name(i) + " returned " + std::to_string(ends) + " times";
    if (ends == 0 && outcomes[i].is_survivor) return name(i) + " never returned";
  }
  return std::nullopt;
}

// The result is made of whole contributions of everybody but the excluded, who are late or no
// survivors.
Verdict check_result(std::span<const Outcome> outcomes, std::size_t at) {
  const Payload& result = outcomes[at].result;
  if ((result.contributors & result.excluded) != 0 ||
      (result.contributors | result.excluded) != mask_of(outcomes))
    return name(at) + " does not account for everybody once: " + describe(result);
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    const bool is_in = result.contributors >> i & 1;
    if (outcomes[i].is_survivor && !is_in && !outcomes[i].is_late)
      return name(at) + " lacks the contribution of " + name(i) + ": " + describe(result);
    if (outcomes[i].is_survivor && is_in && outcomes[i].is_late)
      return name(at) + " has what " + name(i) + " owes: " + describe(result);
  }
  return std::nullopt;
}

// A broadcast delivers at most once, and only what the root has sent.
Verdict check_integrity(std::span<const Outcome> outcomes, std::size_t root) {
  const Payload payload{std::uint64_t{1} << root, 0};
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    const Outcome& outcome = outcomes[i];
    if (outcome.delivered > 1)
      return name(i) + " delivered " + std::to_string(outcome.delivered) + " times";
    if (outcome.delivered != 0 && outcome.result != payload)
      return name(i) + " delivered what is not the root's: " + describe(outcome.result);
  }
  return std::nullopt;
}

}  // namespace

Verdict check_allreduce(std::span<const Outcome> outcomes) {
  if (Verdict verdict = check_ended_once(outcomes)) return verdict;
  const Outcome* first = nullptr;
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    const Outcome& outcome = outcomes[i];
    if (outcome.failed != 0) return name(i) + " failed";
    if (!outcome.is_survivor) continue;
    if (Verdict verdict = check_result(outcomes, i)) return verdict;
    if (first == nullptr) first = &outcome;
    if (outcome.result != first->result)
      return name(i) + " disagrees: " + describe(outcome.result) + " is not " +
             describe(first->result);
  }
  return std::nullopt;
}

Verdict check_reduce(std::span<const Outcome> outcomes) {
  if (Verdict verdict = check_ended_once(outcomes)) return verdict;
  for (std::size_t i = 0; i < outcomes.size(); ++i)
    if (outcomes[i].failed != 0) return name(i) + " failed";
  return outcomes[0].is_survivor ? check_result(outcomes, 0) : std::nullopt;
}

Verdict check_scan(std::span<const Outcome> outcomes) {
  if (Verdict verdict = check_ended_once(outcomes)) return verdict;
  std::uint64_t counted = 0;  // by the survivor below
  std::uint64_t decided = 0;  // the positions up to that one
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    if (outcomes[i].failed != 0) return name(i) + " failed";
    if (!outcomes[i].is_survivor) continue;
    if (Verdict verdict = check_result(outcomes.first(i + 1), i)) return verdict;
    const Payload& result = outcomes[i].result;
    if ((result.contributors & decided) != counted)
      return name(i) + " disagrees with those below: " + describe(result);
    counted = result.contributors;
    decided = mask_of(outcomes.first(i + 1));
  }
  return std::nullopt;
}

Verdict check_timed_reduce(std::span<const Outcome> outcomes) {
  if (Verdict verdict = check_ended_once(outcomes)) return verdict;
  for (std::size_t i = 0; i < outcomes.size(); ++i)
    if (outcomes[i].failed != 0) return name(i) + " failed";
  const Payload& result = outcomes[0].result;
  if (outcomes[0].is_survivor && ((result.contributors & 1) == 0 || result.excluded != 0))
    return name(0) + " lacks its own contribution: " + describe(result);
  return std::nullopt;
}

Verdict check_reliable_broadcast(std::span<const Outcome> outcomes, std::size_t root) {
  if (Verdict verdict = check_ended_once(outcomes)) return verdict;
  if (Verdict verdict = check_integrity(outcomes, root)) return verdict;
  const Outcome* first = nullptr;
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    if (!outcomes[i].is_survivor) continue;
    if (outcomes[i].failed != 0 && outcomes[root].is_survivor) return name(i) + " failed";
    if (first == nullptr) first = &outcomes[i];
    if (outcomes[i].delivered != first->delivered)
      return name(i) + (outcomes[i].delivered != 0 ? " delivered" : " failed") + ", others did not";
  }
  return std::nullopt;
}

Verdict check_broadcast(std::span<const Outcome> outcomes, std::size_t root, bool everybody) {
  if (Verdict verdict = check_integrity(outcomes, root)) return verdict;
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    if (outcomes[i].failed != 0) return name(i) + " failed";
    if (everybody && outcomes[i].is_survivor && outcomes[i].delivered == 0)
      return name(i) + " was left uncolored";
  }
  return std::nullopt;
}

}  // namespace resprout::sim
