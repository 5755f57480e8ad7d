// Random corrections, gossip that they correct, and faults that they are made for.
// Thread rule: pure functions of the generator's state.
#pragma once

#include <algorithm>
#include <ostream>

#include "protocols/corrected_gossip/corrected_gossip.hpp"
#include "protocols/correction/rules.hpp"
#include "sim/swarm/chooser.hpp"
#include "sim/swarm/draw.hpp"

namespace resprout::sim {

inline protocols::CorrectionRules draw_correction(Random& random) {
  protocols::CorrectionRules rules;
  rules.kind = static_cast<protocols::Correction>(random.below(6));
  rules.distance = static_cast<std::int32_t>(1 + random.below(5));
  rules.sides = static_cast<protocols::Sides>(random.below(2));
  rules.heed = static_cast<protocols::Heed>(random.below(2));
  rules.failures = static_cast<std::int32_t>(1 + random.below(5));
  rules.delay = static_cast<Duration>(random.below(20));
  return rules;
}

// By rounds: in an asynchronous world there is no clock that could end it.
inline protocols::CorrectedGossipConfig draw_gossip(Random& random, int procs) {
  return {.procs = procs,
          .root = draw_rank(random, procs),
          .correction = draw_correction(random),
          .rounds = static_cast<std::uint32_t>(1 + random.below(8)),
          .seed = random.next()};
}

inline void describe_rules(std::ostream& out, const protocols::CorrectionRules& rules) {
  constexpr const char* kinds[] = {"no correction", "opportunistic", "optimized opportunistic",
                                   "checked",       "failure-proof", "delayed"};
  out << kinds[static_cast<int>(rules.kind)] << ", distance " << rules.distance
      << (rules.sides == protocols::Sides::both ? "" : " to the right")
      << (rules.heed == protocols::Heed::both ? "" : ", heeds the right") << ", against "
      << rules.failures << ", delay " << rules.delay;
}

// In most runs no more crashes on the way than the correction promises to bear. Nobody is suspected
// who lives: a correction knows no suspicion.
inline FaultPlan draw_tolerable_faults(Random& random, int procs,
                                       const protocols::CorrectionRules& rules) {
  FaultPlan plan = draw_fault_plan(random, procs);
  plan.mischief.suspects_the_living = false;
  if (random.chance(3, 4))
    plan.mischief.crashes =
        std::min(plan.mischief.crashes, std::max(0, protocols::tolerated_failures(rules)));
  return plan;
}

}  // namespace resprout::sim
