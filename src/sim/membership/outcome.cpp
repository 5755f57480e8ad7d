// See outcome.hpp.
#include "sim/membership/outcome.hpp"

namespace resprout::sim {
namespace {

using Ids = protocols::IdSet<1>;

std::string listed(const Ids& ids) {
  std::string text = "{";
  ids.for_each([&](Rank id) { text += (text.size() > 1 ? "," : "") + std::to_string(index(id)); });
  return text + "}";
}

// All who last and are in the latest view know that it ends there.
bool are_isolated(std::span<const MembershipOutcome> outcomes, const protocols::View<1>& latest,
                  const Ids& lasting) {
  for (Rank rank = lasting.lowest(); rank != no_rank; rank = lasting.next(rank)) {
    const MembershipOutcome& outcome = outcomes[static_cast<std::size_t>(index(rank))];
    if (outcome.is_member && outcome.view == latest && !outcome.failed) return false;
  }
  return true;
}

}  // namespace

std::optional<std::string> check_membership(std::span<const MembershipOutcome> outcomes) {
  Ids lasting;
  Ids joining;
  Ids proven;
  Ids maybe_proven;
  protocols::View<1> latest;
  for (std::size_t id = 0; id < outcomes.size(); ++id) {
    const MembershipOutcome& outcome = outcomes[id];
    const Rank rank = rank_at(static_cast<std::int32_t>(id));
    if (outcome.is_proven) proven.add(rank);
    if (outcome.is_proven || outcome.may_be_proven) maybe_proven.add(rank);
    if (!outcome.is_survivor) continue;
    lasting.add(rank);
    if (outcome.is_joining) joining.add(rank);
    if (outcome.is_member && outcome.view.epoch > latest.epoch) latest = outcome.view;
  }
  // Nobody who could tell is left.
  if (latest.epoch == 0) return std::nullopt;
  const bool may_go_on = is_quorum(latest.members, maybe_proven, lasting - joining);
  const bool must_go_on = is_quorum(latest.members, proven, lasting - joining);
  const bool has_quorum = must_go_on || (may_go_on && !are_isolated(outcomes, latest, lasting));
  for (Rank rank = lasting.lowest(); rank != no_rank; rank = lasting.next(rank)) {
    const MembershipOutcome& outcome = outcomes[static_cast<std::size_t>(index(rank))];
    const std::string who = "process " + std::to_string(index(rank));
    if (!has_quorum) {
      if (outcome.is_member && outcome.view == latest && !outcome.failed)
        return who + " does not know that it is isolated in " + listed(latest.members);
      continue;
    }
    if (!outcome.is_member) return who + " is no member in the end";
    if (outcome.view.members != lasting)
      return who + " ends in " + listed(outcome.view.members) + ", not in " + listed(lasting);
    if (outcome.view != latest) return who + " ends in another epoch than others";
  }
  return std::nullopt;
}

}  // namespace resprout::sim
