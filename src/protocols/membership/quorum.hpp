// Who may decide what the next view is, of the members of the last one.
//
// A majority of the last view; or half of it, with its root; or all of it who are not proven dead.
// The third is for the case that most have died: a process that has ended cannot be on the other
// side of a cut. Any two of these quorums, as far as they are alive, have a process in common or
// consist of processes that take no more messages from the other;
// docs/explanation/protocols/membership.md says why that is enough. Silence is no proof: behind it
// there may be a cut.
//
// Thread rule: a pure function.
#pragma once

#include "protocols/membership/id_set.hpp"

namespace resprout::protocols {

template <std::size_t Words>
constexpr bool is_quorum(const IdSet<Words>& members, const IdSet<Words>& proven_dead,
                         const IdSet<Words>& agreeing) {
  const std::int32_t all = members.count();
  const std::int32_t some = (agreeing & members).count();
  if (2 * some > all) return true;
  if (2 * some == all && agreeing.contains(members.lowest())) return true;
  return some > 0 && (members - proven_dead).is_within(agreeing);
}

}  // namespace resprout::protocols
