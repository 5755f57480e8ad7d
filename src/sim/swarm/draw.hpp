// What random operations are made of.
// Thread rule: pure functions of the generator's state.
#pragma once

#include <vector>

#include "core/protocol.hpp"
#include "core/random.hpp"
#include "registry/trees.hpp"
#include "sim/checkers/payload.hpp"

namespace resprout::sim {

// Half of all operations have at most 8 processes: that is where the worlds are searched most
// densely.
inline int draw_procs(Random& random) {
  if (random.chance(1, 2)) return static_cast<int>(1 + random.below(8));
  if (random.chance(2, 3)) return static_cast<int>(9 + random.below(16));
  return static_cast<int>(25 + random.below(40));
}

inline Rank draw_rank(Random& random, int procs) {
  return rank_at(static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(procs))));
}

inline std::int32_t draw_radix(Random& random) {
  return static_cast<std::int32_t>(2 + random.below(random.chance(1, 2) ? 1 : 7));
}

// Any of the trees there are.
inline registry::OwnedTree draw_tree(Random& random, int procs) {
  registry::Spec spec{};
  spec.tree = static_cast<registry::TreeKind>(random.below(5));
  spec.k = draw_radix(random);
  const bool is_grown = registry::shape_of(spec.tree) == topology::Shape::grown;
  if (!is_grown && random.chance(1, 2)) spec.numbering = topology::Numbering::in_order;
  const auto latency = static_cast<Duration>(random.below(6));
  const auto overhead = static_cast<Duration>(1 + random.below(3));
  return std::get<registry::OwnedTree>(registry::make_tree(spec, procs, latency, overhead));
}

template <Machine M, typename Config>
std::vector<M> make_machines(const Config& config, int procs) {
  std::vector<M> machines;
  for (std::int32_t rank = 0; rank < procs; ++rank) machines.emplace_back(config, rank_at(rank));
  return machines;
}

// Each process's own bit, at its position in the order of folding.
inline std::vector<Payload> own_inputs(int procs, int fold_root) {
  std::vector<Payload> inputs(static_cast<std::size_t>(procs));
  for (int i = 0; i < procs; ++i)
    inputs[static_cast<std::size_t>((fold_root + i) % procs)].contributors = std::uint64_t{1} << i;
  return inputs;
}

// Only the root has a payload: its own bit.
inline std::vector<Payload> root_input(int procs, int root) {
  std::vector<Payload> inputs(static_cast<std::size_t>(procs));
  inputs[static_cast<std::size_t>(root)].contributors = std::uint64_t{1} << root;
  return inputs;
}

}  // namespace resprout::sim
