// What corrected trees are compared with, on the LogP machine: corrected gossip, acknowledged and
// multiple trees.
#include "protocols/acknowledged_tree/acknowledged_tree.hpp"
#include "protocols/corrected_gossip/corrected_gossip.hpp"
#include "protocols/multi_tree/multi_tree.hpp"
#include "sim/logp/corrected_tree_config.hpp"
#include "sim/logp/runner.hpp"
#include "sim/logp/simulations.hpp"

namespace resprout::sim {

using protocols::AcknowledgedTree;
using protocols::AcknowledgedTreeConfig;
using protocols::CorrectedGossip;
using protocols::CorrectedGossipConfig;
using protocols::MultiTree;
using protocols::MultiTreeConfig;

Made make_corrected_gossip(const Machinery& machinery) {
  const registry::Spec& spec = machinery.spec;
  const CorrectedGossipConfig config{.procs = machinery.procs,
                                     .root = machinery.root,
                                     .correction = correction_rules(machinery),
                                     .rounds = static_cast<std::uint32_t>(spec.gossip.rounds),
                                     .until = Time{spec.gossip.time},
                                     .late = spec.gossip.late};
  std::optional<Time> correction_start;
  if (config.rounds == 0 && config.correction.kind != protocols::Correction::none)
    correction_start = config.until;
  return std::make_unique<BroadcastSimulation<CorrectedGossip, CorrectedGossipConfig>>(
      machinery, config, correction_start);
}

Made make_acknowledged_tree(const Machinery& machinery, registry::OwnedTree tree) {
  const AcknowledgedTreeConfig config{tree.tree, machinery.procs, machinery.root};
  return std::make_unique<BroadcastSimulation<AcknowledgedTree, AcknowledgedTreeConfig>>(
      machinery, config, std::nullopt, std::move(tree.growth));
}

Made make_multi_tree(const Machinery& machinery) {
  const topology::MultiTree trees(machinery.procs, machinery.spec.trees, machinery.spec.k);
  const MultiTreeConfig config{trees, machinery.procs, machinery.root};
  return std::make_unique<BroadcastSimulation<MultiTree, MultiTreeConfig>>(machinery, config,
                                                                           std::nullopt);
}

}  // namespace resprout::sim
