// How long a tree takes on a LogP machine when nothing fails.
// Thread rule: pure.
#pragma once

#include <algorithm>
#include <vector>

#include "core/time.hpp"
#include "sim/logp/model.hpp"
#include "topology/tree.hpp"

namespace resprout::sim {

// By rank of the tree, when it is colored if the root starts at 0.
inline std::vector<Duration> coloring_times(const topology::Tree& tree, const LogP& model) {
  std::vector<Duration> colored(static_cast<std::size_t>(tree.procs()), 0);
  for (std::int32_t rank = 0; rank < tree.procs(); ++rank) {  // parents come before their children
    Duration sent = colored[static_cast<std::size_t>(rank)];
    std::int32_t child = -1;
    for (std::int32_t i = 0; (child = tree.child(rank, i)) >= 0; ++i, sent += model.spacing())
      colored[static_cast<std::size_t>(child)] = sent + model.hop();
  }
  return colored;
}

// The time at which the last process of the tree is colored.
inline Time dissemination_end(const topology::Tree& tree, const LogP& model) {
  const std::vector<Duration> colored = coloring_times(tree, model);
  return {*std::max_element(colored.begin(), colored.end())};
}

}  // namespace resprout::sim
