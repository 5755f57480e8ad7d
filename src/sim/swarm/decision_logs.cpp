// Random decisions of a rank's replicas, and what they promise.
#include "sim/decision_log/world.hpp"
#include "sim/swarm/draw.hpp"
#include "sim/swarm/protocols.hpp"

namespace resprout::sim {

RunReport run_decision_log(std::uint64_t seed, std::ostream* trace) {
  Random random(seed);
  const protocols::DecisionLogConfig config{static_cast<std::int32_t>(2 + random.below(2)),
                                            1 + random.below(6)};
  DecisionLogScene scene;
  scene.decisions = 1 + random.below(decisions_bound - 1);
  scene.sends_at_once = random.chance(1, 2);
  const FaultPlan plan = draw_fault_plan(random, config.degree);
  if (trace != nullptr)
    *trace << "degree " << config.degree << ", window " << config.window << ", " << scene.decisions
           << " decisions, seed " << seed << '\n';
  DecisionLogWorld world(config, scene);
  return run_world(world, random, plan, 0, trace,
                   [&](std::span<const DecisionLogOutcome> outcomes) {
                     return check_decision_log(outcomes, config.window);
                   });
}

}  // namespace resprout::sim
