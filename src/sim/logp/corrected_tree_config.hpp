// What a spec of a corrected tree means on a LogP machine.
// Thread rule: pure functions.
#pragma once

#include "protocols/corrected_tree/config.hpp"
#include "sim/logp/dissemination.hpp"
#include "sim/logp/simulation.hpp"

namespace resprout::sim {

inline protocols::CorrectionRules correction_rules(const Machinery& machinery) {
  protocols::CorrectionRules rules = machinery.spec.correction;
  rules.delay += machinery.model.hop();
  return rules;
}

inline protocols::CorrectedTreeConfig tree_config(const Machinery& machinery,
                                                  const topology::Tree& tree) {
  return {.tree = tree,
          .procs = machinery.procs,
          .root = machinery.root,
          .correction = correction_rules(machinery),
          .start = machinery.spec.start,
          .correction_start = dissemination_end(tree, machinery.model),
          .early = machinery.spec.early};
}

}  // namespace resprout::sim
