// Corrected trees on the LogP machine.
#include "protocols/corrected_tree/corrected_tree.hpp"
#include "sim/logp/corrected_tree_config.hpp"
#include "sim/logp/runner.hpp"
#include "sim/logp/simulations.hpp"

namespace resprout::sim {

using protocols::CorrectedTree;
using protocols::CorrectedTreeConfig;
using protocols::CorrectedTreeOf;
using protocols::Correction;

Made make_corrected_tree(const Machinery& machinery, registry::OwnedTree tree) {
  const CorrectedTreeConfig config = tree_config(machinery, tree.tree);
  std::optional<Time> correction_start;
  if (config.start == protocols::StartMode::synchronized &&
      config.correction.kind != Correction::none)
    correction_start = config.correction_start;
  // The campaigns' correction has an engine of its own, which is faster.
  using Fast = CorrectedTreeOf<protocols::Checked>;
  if (config.correction.kind == Correction::checked)
    return std::make_unique<BroadcastSimulation<Fast, CorrectedTreeConfig, CorrectedTree>>(
        machinery, config, correction_start, std::move(tree.growth));
  return std::make_unique<BroadcastSimulation<CorrectedTree, CorrectedTreeConfig>>(
      machinery, config, correction_start, std::move(tree.growth));
}

}  // namespace resprout::sim
