// Random memberships, and what they promise.
#include <algorithm>

#include "sim/membership/world.hpp"
#include "sim/swarm/draw.hpp"
#include "sim/swarm/protocols.hpp"

namespace resprout::sim {

namespace {

template <typename Views>
RunReport run(std::uint64_t seed, std::ostream* trace) {
  Random random(seed);
  const int founders = std::min(draw_procs(random), 60);
  const protocols::MembershipConfig config{{2 << random.below(4)}, 0};
  MembershipScene scene;
  scene.founders = founders;
  scene.joiners = random.chance(1, 2) ? static_cast<int>(random.below(4)) : 0;
  if (Views::is_local && (scene.joiners > 0 || random.chance(1, 4)))
    scene.returns = static_cast<int>(random.below(4));
  // Who joins knows them all, and has to remember them.
  if (Views::is_local && scene.joiners + scene.returns > 0)
    scene.founders = std::min(scene.founders, 28);
  scene.joins_low = random.chance(1, 2);
  scene.proves = random.chance(1, 2);
  scene.sends_at_once = random.chance(1, 2);
  // Where everybody knows everybody, many who are isolated have much to say to each other.
  scene.probes = Views::is_local || scene.founders <= 16 || random.chance(1, 16);
  FaultPlan plan = draw_fault_plan(random, scene.founders);
  if (Views::is_local && scene.founders > 1 && scene.joiners == 0) {
    // Where nobody joins nothing happens until somebody has died; and only neighbors are suspected.
    plan.dead_at_start = std::max(plan.dead_at_start, 1);
    if (random.chance(1, 3)) plan.mischief.suspects_the_living = true;
  }
  if (trace != nullptr)
    *trace << (Views::is_local ? "membership with local views of " : "membership of ")
           << scene.founders << " and " << scene.joiners << " joiners, " << scene.returns
           << " may come back, radix " << config.tree.radix << (scene.proves ? ", with proofs" : "")
           << ", seed " << seed << '\n';
  MembershipWorldOf<Views> world(config, scene);
  return run_world(world, random, plan, 0, trace, [](std::span<const MembershipOutcome> outcomes) {
    return check_membership(outcomes);
  });
}

}  // namespace

RunReport run_membership(std::uint64_t seed, std::ostream* trace) {
  return run<WholeViews>(seed, trace);
}

RunReport run_local_membership(std::uint64_t seed, std::ostream* trace) {
  return run<LocalViews<64>>(seed, trace);
}

}  // namespace resprout::sim
