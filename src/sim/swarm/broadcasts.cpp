// Random broadcasts by corrected trees, and what they promise.
#include <algorithm>

#include "protocols/corrected_tree/corrected_tree.hpp"
#include "protocols/reliable_broadcast/reliable_broadcast.hpp"
#include "sim/checkers/coloring.hpp"
#include "sim/swarm/draw.hpp"
#include "sim/swarm/draw_correction.hpp"
#include "sim/swarm/protocols.hpp"

namespace resprout::sim {
namespace {

protocols::CorrectedTreeConfig draw_config(Random& random, const topology::Tree& tree) {
  protocols::CorrectedTreeConfig config{.tree = tree, .procs = tree.procs()};
  config.root = draw_rank(random, config.procs);
  config.correction = draw_correction(random);
  config.start = static_cast<protocols::StartMode>(random.below(2));
  config.correction_start = Time{static_cast<std::int64_t>(random.below(100))};
  config.early = static_cast<protocols::EarlyPolicy>(random.below(2));
  return config;
}

void describe(std::ostream& out, const protocols::CorrectedTreeConfig& config) {
  out << config.procs << " from " << index(config.root) << ", ";
  describe_rules(out, config.correction);
  out << (config.start == protocols::StartMode::overlapped ? ", overlapped" : ", synchronized")
      << (config.early == protocols::EarlyPolicy::join ? ", early join" : ", early abstain");
}

template <Machine M>
RunReport run_reliable(const typename M::Config& config, Random& random, std::ostream* trace) {
  const int procs = config.dissemination.procs;
  const int root = index(config.dissemination.root);
  const FaultPlan plan = draw_fault_plan(random, procs);
  World world(make_machines<M>(config, procs), root_input(procs, root), 0);
  if (random.chance(1, 2)) {
    world.offer_corrections();
    if (trace != nullptr) *trace << "corrections are offers\n";
  }
  return run_world(world, random, plan, root, trace, [root](std::span<const Outcome> outcomes) {
    return check_reliable_broadcast(outcomes, static_cast<std::size_t>(root));
  });
}

}  // namespace

RunReport run_reliable_broadcast(std::uint64_t seed, std::ostream* trace) {
  Random random(seed);
  const int procs = draw_procs(random);
  const registry::OwnedTree tree = draw_tree(random, procs);
  protocols::CorrectedTreeConfig dissemination = draw_config(random, tree.tree);
  dissemination.start = protocols::StartMode::overlapped;
  const protocols::ReliableBroadcastConfig config(dissemination, draw_radix(random),
                                                  static_cast<Duration>(random.below(50)));
  if (trace != nullptr) {
    *trace << "reliable-broadcast to ";
    describe(*trace, config.dissemination);
    *trace << ", seed " << seed << '\n';
  }
  return run_reliable<protocols::ReliableBroadcast>(config, random, trace);
}

RunReport run_reliable_gossip(std::uint64_t seed, std::ostream* trace) {
  Random random(seed);
  const int procs = draw_procs(random);
  const protocols::CorrectedGossipConfig gossip = draw_gossip(random, procs);
  const protocols::ReliableGossipConfig config(gossip, draw_radix(random),
                                               static_cast<Duration>(random.below(50)));
  if (trace != nullptr) {
    *trace << "reliable-gossip to " << procs << " from " << index(gossip.root) << ", "
           << gossip.rounds << " rounds, ";
    describe_rules(*trace, gossip.correction);
    *trace << ", seed " << seed << '\n';
  }
  return run_reliable<protocols::ReliableGossip>(config, random, trace);
}

RunReport run_corrected_tree(std::uint64_t seed, std::ostream* trace) {
  Random random(seed);
  const int procs = draw_procs(random);
  const registry::OwnedTree tree = draw_tree(random, procs);
  const protocols::CorrectedTreeConfig config = draw_config(random, tree.tree);
  const FaultPlan plan = draw_tolerable_faults(random, procs, config.correction);
  const int root = index(config.root);
  if (trace != nullptr) {
    *trace << "corrected-tree to ";
    describe(*trace, config);
    *trace << ", seed " << seed << '\n';
  }
  World world(make_machines<protocols::CorrectedTree>(config, procs), root_input(procs, root), 0);
  return run_world(world, random, plan, root, trace, [&](std::span<const Outcome> outcomes) {
    // Without crashes on the way, who is no survivor was dead at the start.
    std::uint64_t dead = 0;
    for (std::size_t i = 0; i < outcomes.size(); ++i)
      if (!outcomes[i].is_survivor) dead |= std::uint64_t{1} << i;
    const bool everybody = outcomes[static_cast<std::size_t>(root)].is_survivor &&
                           must_color_everybody(config, dead, plan.mischief.crashes);
    return check_broadcast(outcomes, static_cast<std::size_t>(root), everybody);
  });
}

}  // namespace resprout::sim
