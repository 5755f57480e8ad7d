// Random reductions, and what they promise.
#include "protocols/corrected_reduce/corrected_reduce.hpp"
#include "protocols/ftco_allreduce/ftco_allreduce.hpp"
#include "sim/swarm/draw.hpp"
#include "sim/swarm/protocols.hpp"

namespace resprout::sim {

RunReport run_allreduce(std::uint64_t seed, std::ostream* trace) {
  Random random(seed);
  const int procs = draw_procs(random);
  const protocols::FtcoAllreduceConfig config{procs, draw_radix(random), Rank{0}, true};
  const FaultPlan plan = draw_fault_plan(random, procs);
  if (trace != nullptr)
    *trace << "ftco-allreduce of " << procs << ", radix " << config.radix << ", seed " << seed
           << '\n';
  World world(make_machines<protocols::FtcoAllreduce>(config, procs), own_inputs(procs, 0), 0);
  return run_world(world, random, plan, 0, trace, check_allreduce);
}

RunReport run_reduce(std::uint64_t seed, std::ostream* trace) {
  Random random(seed);
  const int procs = draw_procs(random);
  const protocols::FtcoAllreduceConfig config{procs, draw_radix(random), draw_rank(random, procs),
                                              false};
  const FaultPlan plan = draw_fault_plan(random, procs);
  const int root = index(config.root);
  if (trace != nullptr)
    *trace << "ftco-reduce of " << procs << " to " << root << ", radix " << config.radix
           << ", seed " << seed << '\n';
  World world(make_machines<protocols::FtcoAllreduce>(config, procs), own_inputs(procs, root),
              root);
  return run_world(world, random, plan, root, trace, check_reduce);
}

// Whose inputs the root gets is a matter of time, and here there is none: that is checked in the
// LogP world.
RunReport run_corrected_reduce(std::uint64_t seed, std::ostream* trace) {
  Random random(seed);
  const int procs = draw_procs(random);
  const registry::OwnedTree tree = draw_tree(random, procs);
  protocols::CorrectedReduceConfig config{
      .tree = tree.tree, .procs = procs, .root = draw_rank(random, procs)};
  config.correction.distance = static_cast<std::int32_t>(1 + random.below(5));
  config.tree_time = static_cast<Duration>(random.below(40));
  config.hop = static_cast<Duration>(1 + random.below(5));
  config.spacing = 1;
  FaultPlan plan = draw_fault_plan(random, procs);
  plan.mischief.suspects_the_living = false;
  const int root = index(config.root);
  if (trace != nullptr)
    *trace << "corrected-reduce of " << procs << " to " << root << ", distance "
           << config.correction.distance << ", seed " << seed << '\n';
  World world(make_machines<protocols::CorrectedReduce>(config, procs), own_inputs(procs, root),
              root, true);
  return run_world(world, random, plan, root, trace, check_timed_reduce);
}

}  // namespace resprout::sim
