// Random memberships, and what they promise.
#include <algorithm>

#include "sim/membership/world.hpp"
#include "sim/swarm/draw.hpp"
#include "sim/swarm/protocols.hpp"

namespace resprout::sim {

RunReport run_membership(std::uint64_t seed, std::ostream* trace) {
  Random random(seed);
  const int founders = std::min(draw_procs(random), 60);
  const protocols::MembershipConfig config{{2 << random.below(4)}, 0};
  MembershipScene scene;
  scene.founders = founders;
  scene.joiners = random.chance(1, 2) ? static_cast<int>(random.below(4)) : 0;
  scene.joins_low = random.chance(1, 2);
  scene.proves = random.chance(1, 2);
  scene.sends_at_once = random.chance(1, 2);
  const FaultPlan plan = draw_fault_plan(random, founders);
  if (trace != nullptr)
    *trace << "membership of " << founders << " and " << scene.joiners << " joiners, radix "
           << config.tree.radix << (scene.proves ? ", with proofs" : "") << ", seed " << seed
           << '\n';
  MembershipWorld world(config, scene);
  return run_world(world, random, plan, 0, trace, [](std::span<const MembershipOutcome> outcomes) {
    return check_membership(outcomes);
  });
}

}  // namespace resprout::sim
