// Random cuts of data links under one operation, and what the watch over them promises.
#include "sim/links/world.hpp"
#include "sim/swarm/draw.hpp"
#include "sim/swarm/protocols.hpp"

namespace resprout::sim {

RunReport run_links(std::uint64_t seed, std::ostream* trace) {
  Random random(seed);
  LinksScene scene;
  scene.procs = static_cast<int>(2 + random.below(random.chance(1, 2) ? 4 : 8));
  scene.ranks_per_host = static_cast<int>(1 + random.below(2));
  scene.cuts = static_cast<int>(random.below(4));
  scene.cut = static_cast<registry::CutKind>(random.below(3));
  scene.patience = static_cast<int>(2 + random.below(3));
  scene.late_units = static_cast<int>(random.below(30));
  const FaultPlan plan = draw_fault_plan(random, scene.procs);
  if (trace != nullptr)
    *trace << "links of " << scene.procs << ", " << scene.ranks_per_host << " a host, up to "
           << scene.cuts << " cuts, patience " << scene.patience << ", seed " << seed << '\n';
  LinksWorld world(scene);
  return run_world(world, random, plan, 0, trace,
                   [&](auto outcomes) { return check_links(outcomes, world.cuts_made()); });
}

}  // namespace resprout::sim
