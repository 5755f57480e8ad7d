// See revocation.hpp.
#include "sim/checkers/revocation.hpp"

#include "topology/binomial_graph.hpp"

namespace resprout::sim {
namespace {

std::string process(std::size_t rank) { return "process " + std::to_string(rank); }

bool is_linked(std::size_t v, std::size_t w, std::size_t procs) {
  const topology::BinomialGraph graph{static_cast<std::int32_t>(procs)};
  return graph.are_linked(static_cast<std::int32_t>(v), static_cast<std::int32_t>(w));
}

}  // namespace

Verdict check_revocation(std::span<const Outcome> outcomes, std::uint64_t initiators, Reach reach) {
  for (std::size_t rank = 0; rank < outcomes.size(); ++rank) {
    const Outcome& outcome = outcomes[rank];
    const bool is_initiator = (initiators >> rank & 1) != 0;
    if (outcome.delivered > 1)
      return process(rank) + " was revoked " + std::to_string(outcome.delivered) + " times";
    if (outcome.delivered == 0 && is_initiator && outcome.is_survivor)
      return process(rank) + " has revoked, and is not revoked";
    const bool by_itself = outcome.result.contributors == std::uint64_t{1} << rank;
    if (outcome.delivered != 0 && by_itself && !is_initiator)
      return process(rank) + " was revoked by nobody";
  }
  for (std::size_t from = 0; from < outcomes.size(); ++from) {
    if (!outcomes[from].is_survivor || outcomes[from].delivered == 0) continue;
    // Over several links: each of them is looked at in its turn.
    for (std::size_t to = 0; to < outcomes.size(); ++to) {
      if (!outcomes[to].is_survivor || outcomes[to].delivered != 0) continue;
      if (reach == Reach::detector || is_linked(from, to, outcomes.size()))
        return process(to) + " never heard of what " + process(from) + " knows";
    }
  }
  return std::nullopt;
}

}  // namespace resprout::sim
