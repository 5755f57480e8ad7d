// What a membership has come to when nothing more happens, and whether that is what it promises.
// Thread rule: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "protocols/membership/membership.hpp"

namespace resprout::sim {

struct MembershipOutcome {
  bool is_survivor;  // has entered, lives, and was never suspected by anybody
  bool is_member;    // thinks so itself
  bool failed;       // thinks that it is isolated
  bool is_joining;   // has not been a member since it came, or came back
  bool is_proven;    // it, or who was before it, is dead, and that is proven to everybody
  // Who was before it is dead, and that is proven to whom it has asked; but it has been suspected
  // since, and nobody may have had to remember the proof.
  bool may_be_proven;
  protocols::View<1> view;
};

// All live members end in the same view after the last event, and it consists of them: all those
// who live and were never suspected. If they are no quorum of their latest view, nobody goes on,
// and everybody in that view knows it; if they are one only because of those of whom it is
// not clear whether they are proven dead, either is right.
std::optional<std::string> check_membership(std::span<const MembershipOutcome> outcomes);

}  // namespace resprout::sim
