// The trees of corrected broadcast: who sends to whom, and in which order.
//
// Corrected Trees, section 3.2. A tree is defined by its interleaved numbering, in which the
// children of r are (only those < procs exist)
//   binomial  r + 2^i for all 2^i > r                  knomial  r + j*k^i for k^i > r, 0 < j < k
//   kary      r + i*k^l for 0 < i <= k, r on level l   grown    r + born(j) for each j in which r
//                                                               sends (Lame, optimal: Growth)
// The in-order numbering counts the same tree depth first, subtrees in the order in which their
// roots are sent to: the largest subtree first.
//
// Invariants
//  1. parent(child(r, i)) == r; each rank but the root, 0, is the child of exactly one rank.
//  2. parent(r) < r in both numberings.
// Cost: interleaved O(1) to O(log procs), in-order O(log^2 procs); no memory.
// Thread rule: a value.
#pragma once

#include <bit>
#include <cstdint>

#include "topology/growth.hpp"

namespace resprout::topology {

enum class Shape : std::uint8_t { binomial, kary, knomial, grown };
enum class Numbering : std::uint8_t { interleaved, in_order };

class Tree {
 public:
  // REQUIRES: procs >= 1; `arity` >= 1 for kary, >= 2 for knomial, and without meaning for
  // binomial.
  constexpr Tree(Shape shape, Numbering numbering, std::int32_t arity, std::int32_t procs)
      : procs_(procs),
        arity_(shape == Shape::binomial ? 2 : arity),
        shape_(shape),
        numbering_(numbering) {}

  // A Lame or an optimal tree, interleaved. REQUIRES: `growth` is complete and outlives the tree.
  constexpr Tree(const Growth& growth, std::int32_t procs)
      : growth_(&growth), procs_(procs), shape_(Shape::grown) {}

  constexpr std::int32_t procs() const { return procs_; }

  // The i-th that `rank` sends to, from 0 on; -1 if there are fewer. REQUIRES: 0 <= rank < procs.
  constexpr std::int32_t child(std::int32_t rank, std::int32_t i) const {
    return numbering_ == Numbering::interleaved ? node_child(rank, i) : in_order_child(rank, i);
  }

  // -1 for the root. REQUIRES: 0 <= rank < procs.
  constexpr std::int32_t parent(std::int32_t rank) const {
    return numbering_ == Numbering::interleaved ? node_parent(rank) : find(rank).parent;
  }

 private:
  // "node": a rank in the interleaved numbering.
  constexpr std::int32_t node_child(std::int32_t node, std::int32_t i) const;
  constexpr std::int32_t node_parent(std::int32_t node) const;
  constexpr std::int64_t spacing(std::int32_t node) const;
  constexpr std::int32_t subtree_size(std::int32_t node) const;

  struct Place {
    std::int32_t node;
    std::int32_t parent;  // in-order rank
  };
  constexpr Place find(std::int32_t rank) const;
  constexpr std::int32_t in_order_child(std::int32_t rank, std::int32_t i) const;

  const Growth* growth_ = nullptr;
  std::int32_t procs_;
  std::int32_t arity_ = 0;
  Shape shape_;
  Numbering numbering_ = Numbering::interleaved;
};

// The distance on the ring between the nodes of the subtree of `node`: the smallest power of the
// arity that is > node, and for kary the number of nodes on its level.
constexpr std::int64_t Tree::spacing(std::int32_t node) const {
  if (shape_ == Shape::binomial)
    return std::int64_t{1} << std::bit_width(static_cast<std::uint32_t>(node));
  if (arity_ == 1) return 1;
  std::int64_t power = 1;
  if (shape_ == Shape::kary) {
    // Level l holds power = k^l nodes; they begin after those of all levels above.
    for (std::int64_t begin = 0; node >= begin + power; power *= arity_) begin += power;
  } else {
    while (power <= node) power *= arity_;
  }
  return power;
}

constexpr std::int32_t Tree::node_child(std::int32_t node, std::int32_t i) const {
  std::int64_t child = node;
  switch (shape_) {
    case Shape::binomial: {
      const int shift = std::bit_width(static_cast<std::uint32_t>(node)) + i;
      child += shift < 32 ? std::int64_t{1} << shift : procs_;
      break;
    }
    case Shape::kary:
      child += i < arity_ ? (i + 1) * spacing(node) : procs_;
      break;
    case Shape::knomial: {
      std::int64_t power = spacing(node);
      for (std::int32_t level = i / (arity_ - 1); level > 0 && power < procs_; --level)
        power *= arity_;
      child += (i % (arity_ - 1) + 1) * power;
      break;
    }
    case Shape::grown:
      child += growth_->born(growth_->first_send(node) + i);
      break;
  }
  return child < procs_ ? static_cast<std::int32_t>(child) : -1;
}

constexpr std::int32_t Tree::node_parent(std::int32_t node) const {
  if (node == 0) return -1;
  switch (shape_) {
    case Shape::binomial:
      return node - static_cast<std::int32_t>(std::bit_floor(static_cast<std::uint32_t>(node)));
    case Shape::kary: {
      // The level above holds spacing / k nodes; `node` is i * that to the right of one of them.
      const std::int64_t above = spacing(node) / arity_;
      const std::int64_t begin = arity_ == 1 ? node - 1 : (above - 1) / (arity_ - 1);
      return static_cast<std::int32_t>(begin + (node - begin) % above);
    }
    case Shape::knomial:
      return static_cast<std::int32_t>(node % (spacing(node) / arity_));
    case Shape::grown:
      return node - growth_->born(growth_->birth(node));
  }
  return -1;
}

// The nodes of a subtree stand `spacing` apart from its root on, all the way up to procs.
// REQUIRES: not grown.
constexpr std::int32_t Tree::subtree_size(std::int32_t node) const {
  return static_cast<std::int32_t>((procs_ - 1 - node) / spacing(node) + 1);
}

// Walks from the root to the subtree that holds in-order number `rank`.
constexpr Tree::Place Tree::find(std::int32_t rank) const {
  Place place{0, -1};
  std::int32_t number = 0;  // of place.node
  while (number != rank) {
    place.parent = number;
    ++number;  // of the first child
    for (std::int32_t i = 0;; ++i) {
      const std::int32_t child = node_child(place.node, i);
      const std::int32_t behind = number + subtree_size(child);
      if (rank < behind) {
        place.node = child;
        break;
      }
      number = behind;
    }
  }
  return place;
}

constexpr std::int32_t Tree::in_order_child(std::int32_t rank, std::int32_t i) const {
  const std::int32_t node = find(rank).node;
  if (node_child(node, i) < 0) return -1;
  std::int32_t number = rank + 1;
  for (std::int32_t before = 0; before < i; ++before)
    number += subtree_size(node_child(node, before));
  return number;
}

}  // namespace resprout::topology
