// Random broadcasts by corrected gossip, acknowledged and multiple trees, and what they promise.
#include "protocols/acknowledged_tree/acknowledged_tree.hpp"
#include "protocols/corrected_gossip/corrected_gossip.hpp"
#include "protocols/multi_tree/multi_tree.hpp"
#include "sim/swarm/draw.hpp"
#include "sim/swarm/draw_correction.hpp"
#include "sim/swarm/protocols.hpp"

namespace resprout::sim {
namespace {

bool lives(std::span<const Outcome> outcomes, int rank) {
  return outcomes[static_cast<std::size_t>(rank)].is_survivor;
}

Verdict check(std::span<const Outcome> outcomes, int root, bool everybody) {
  return check_broadcast(outcomes, static_cast<std::size_t>(root),
                         everybody && lives(outcomes, root));
}

FaultPlan draw_deaths(Random& random, int procs) {
  FaultPlan plan = draw_fault_plan(random, procs);
  plan.mischief.suspects_the_living = false;
  return plan;
}

}  // namespace

RunReport run_corrected_gossip(std::uint64_t seed, std::ostream* trace) {
  Random random(seed);
  const int procs = draw_procs(random);
  const protocols::CorrectedGossipConfig config = draw_gossip(random, procs);
  const FaultPlan plan = draw_tolerable_faults(random, procs, config.correction);
  const int root = index(config.root);
  if (trace != nullptr) {
    *trace << "corrected-gossip to " << procs << " from " << root << ", " << config.rounds
           << " rounds, ";
    describe_rules(*trace, config.correction);
    *trace << ", seed " << seed << '\n';
  }
  const bool everybody = protocols::tolerated_failures(config.correction) >= plan.mischief.crashes;
  World world(make_machines<protocols::CorrectedGossip>(config, procs), root_input(procs, root), 0);
  return run_world(world, random, plan, root, trace, [=](std::span<const Outcome> outcomes) {
    return check(outcomes, root, everybody);
  });
}

RunReport run_acknowledged_tree(std::uint64_t seed, std::ostream* trace) {
  Random random(seed);
  const int procs = draw_procs(random);
  const registry::OwnedTree tree = draw_tree(random, procs);
  const protocols::AcknowledgedTreeConfig config{tree.tree, procs, draw_rank(random, procs)};
  const FaultPlan plan = draw_deaths(random, procs);
  const int root = index(config.root);
  if (trace != nullptr)
    *trace << "acknowledged-tree to " << procs << " from " << root << ", seed " << seed << '\n';
  World world(make_machines<protocols::AcknowledgedTree>(config, procs), root_input(procs, root),
              0);
  return run_world(world, random, plan, root, trace, [&](std::span<const Outcome> outcomes) {
    const bool is_whole = std::all_of(outcomes.begin(), outcomes.end(),
                                      [](const Outcome& outcome) { return outcome.is_survivor; });
    const bool root_knows = lives(outcomes, root) && world.machine(root).is_complete();
    if (is_whole && !root_knows) return Verdict("the root was not told that all are colored");
    return check(outcomes, root, is_whole || root_knows);
  });
}

RunReport run_multi_tree(std::uint64_t seed, std::ostream* trace) {
  Random random(seed);
  const int procs = draw_procs(random);
  const auto trees = static_cast<std::int32_t>(1 + random.below(4));
  const auto arity = trees + 1 + static_cast<std::int32_t>(random.below(3));
  const topology::MultiTree topology(procs, trees, arity);
  const protocols::MultiTreeConfig config{topology, procs, draw_rank(random, procs)};
  const FaultPlan plan = draw_deaths(random, procs);
  const int root = index(config.root);
  if (trace != nullptr)
    *trace << "multi-tree to " << procs << " from " << root << ", " << trees << " trees, arity "
           << arity << ", seed " << seed << '\n';
  World world(make_machines<protocols::MultiTree>(config, procs), root_input(procs, root), 0);
  return run_world(world, random, plan, root, trace, [&](std::span<const Outcome> outcomes) {
    const auto dead = std::count_if(outcomes.begin(), outcomes.end(),
                                    [](const Outcome& outcome) { return !outcome.is_survivor; });
    return check(outcomes, root, dead == 0 || (dead < trees && topology.is_disjoint()));
  });
}

}  // namespace resprout::sim
