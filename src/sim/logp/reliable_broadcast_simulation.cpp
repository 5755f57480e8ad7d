// Reliable broadcast, over a tree or by gossip, on the LogP machine.
#include "protocols/reliable_broadcast/reliable_broadcast.hpp"
#include "sim/logp/corrected_tree_config.hpp"
#include "sim/logp/runner.hpp"
#include "sim/logp/simulations.hpp"

namespace resprout::sim {

using protocols::ReliableBroadcast;
using protocols::ReliableBroadcastConfig;
using protocols::ReliableGossip;
using protocols::ReliableGossipConfig;

Made make_reliable_broadcast(const Machinery& machinery, registry::OwnedTree tree) {
  protocols::CorrectedTreeConfig dissemination = tree_config(machinery, tree.tree);
  dissemination.start = protocols::StartMode::overlapped;
  const Duration patience = dissemination.correction_start.ticks + 2 * machinery.model.hop();
  auto simulation =
      std::make_unique<BroadcastSimulation<ReliableBroadcast, ReliableBroadcastConfig>>(
          machinery, ReliableBroadcastConfig(dissemination, 2, patience), std::nullopt,
          std::move(tree.growth));
  simulation->set_detection(detection_delay(machinery.model));
  return simulation;
}

Made make_reliable_gossip(const Machinery& machinery) {
  const auto rounds = static_cast<std::uint32_t>(machinery.spec.gossip.rounds);
  const protocols::CorrectedGossipConfig dissemination{.procs = machinery.procs,
                                                       .root = machinery.root,
                                                       .correction = correction_rules(machinery),
                                                       .rounds = rounds};
  const Duration patience = (Duration{rounds} + 2) * machinery.model.hop();
  auto simulation = std::make_unique<BroadcastSimulation<ReliableGossip, ReliableGossipConfig>>(
      machinery, ReliableGossipConfig(dissemination, 2, patience), std::nullopt);
  simulation->set_detection(detection_delay(machinery.model));
  return simulation;
}

}  // namespace resprout::sim
