// Reliable broadcast on the LogP machine.
#include "protocols/reliable_broadcast/reliable_broadcast.hpp"
#include "sim/logp/corrected_tree_config.hpp"
#include "sim/logp/runner.hpp"
#include "sim/logp/simulations.hpp"

namespace resprout::sim {

using protocols::ReliableBroadcast;
using protocols::ReliableBroadcastConfig;

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

}  // namespace resprout::sim
