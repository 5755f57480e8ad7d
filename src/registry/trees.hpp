// The trees that specs ask for.
// Thread rule: values.
#pragma once

#include <memory>

#include "core/time.hpp"
#include "registry/spec.hpp"
#include "topology/tree.hpp"

namespace resprout::registry {

// A tree with the tables that it may need.
struct OwnedTree {
  topology::Tree tree;
  std::unique_ptr<const topology::Growth> growth;  // null: needs none
};

// `grown` for Lame and optimal trees.
topology::Shape shape_of(TreeKind kind);

// Latency, overhead and gap are LogP's; only the optimal tree depends on them. One line if the
// tree's tables would be too large.
// REQUIRES: procs >= 1; latency, gap >= 0; overhead >= 1.
std::variant<OwnedTree, std::string> make_tree(const Spec& spec, std::int32_t procs,
                                               Duration latency, Duration overhead,
                                               Duration gap = 0);

}  // namespace resprout::registry
