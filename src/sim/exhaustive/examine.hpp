// What is done with each start of a case: it is explored, or goes the way that the case's script
// tells.
// Thread rule: no shared state.
#pragma once

#include <utility>

#include "sim/exhaustive/case.hpp"

namespace resprout::sim {

// Adds what it finds. Whether there is anything to be done with another start.
template <typename World, typename Check>
bool examine(const World& start, const Case& given, const Limits& limits, const Check& check,
             Finding& finding) {
  if (given.script != nullptr) {
    finding.played = Player(start, limits, check).play(*given.script);
    return false;
  }
  add(finding.exploration, explore(start, limits, check));
  if (finding.exploration.violation.empty()) return true;
  finding.shortest = shortest_way(start, limits, check);
  return false;
}

// Of a case that has one start.
template <typename World, typename Check>
Finding examine(const World& start, const Case& given, const Check& check) {
  Finding finding;
  examine(start, given, given.limits, check, finding);
  return finding;
}

}  // namespace resprout::sim
