// The trees of corrected broadcast: who sends to whom, and in which order.
//
// Corrected Trees, section 3.2. A tree is defined by its interleaved numbering, in which the
// children of r are (only those < procs exist)
//   binomial  r + 2^i for all 2^i > r                  knomial  r + j*k^i for k^i > r, 0 < j < k
//   kary      r + i*k^l for 0 < i <= k, r on level l   grown    whom Growth says (Lame, optimal)
// The in-order numbering counts the same tree depth first, subtrees in the order in which their
// roots are sent to: the largest subtree first.
//
// Invariants
//  1. parent(child(r, i)) == r; each rank but the root, 0, is the child of exactly one rank.
//  2. parent(r) < r in both numberings.
// Cost: O(1) for binomial interleaved, else O(log procs); no memory but the tables of Growth, which
// are of one size for all trees and shared by all ranks.
// Thread rule: a value.
#pragma once

#include <bit>
#include <cstdint>

#include "topology/deal.hpp"
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
        // A chain has one numbering.
        numbering_(shape == Shape::kary && arity == 1 ? Numbering::interleaved : numbering) {}

  // A Lame or an optimal tree, interleaved. REQUIRES: `growth` is complete and outlives the tree.
  constexpr Tree(const Growth& growth, std::int32_t procs)
      : growth_(&growth), procs_(procs), shape_(Shape::grown) {}

  constexpr std::int32_t procs() const { return procs_; }

  // The i-th that `rank` sends to, from 0 on; -1 if there are fewer. REQUIRES: 0 <= rank < procs.
  constexpr std::int32_t child(std::int32_t rank, std::int32_t i) const {
    return numbering_ == Numbering::interleaved ? node_child(rank, i) : in_order_child(rank, i);
  }

  // The number of ranks in the subtree of `rank`, itself included: they are `rank` and those right
  // behind it. REQUIRES: in-order; 0 <= rank < procs.
  constexpr std::int32_t size(std::int32_t rank) const;

  // -1 for the root. REQUIRES: 0 <= rank < procs.
  constexpr std::int32_t parent(std::int32_t rank) const {
    return numbering_ == Numbering::interleaved ? node_parent(rank) : in_order_parent(rank);
  }

 private:
  // "node": a rank in the interleaved numbering.
  constexpr std::int32_t node_child(std::int32_t node, std::int32_t i) const;
  constexpr std::int32_t node_parent(std::int32_t node) const;
  constexpr std::int64_t spacing(std::int32_t node) const;

  struct Subtree;
  struct Place;
  constexpr Place find(std::int32_t rank) const;
  constexpr std::int64_t before_child(const Subtree& subtree, std::int32_t i) const;
  constexpr std::int32_t in_order_child(std::int32_t rank, std::int32_t i) const;
  constexpr std::int32_t in_order_parent(std::int32_t rank) const;

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
      child = growth_->child(node, i);
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
      return growth_->parent(node);
  }
  return -1;
}

// The nodes of the subtree of `node` are node + m * spacing, m = 0 .. last. REQUIRES: not grown.
struct Tree::Subtree {
  std::int32_t node;
  std::int64_t spacing;
  std::int64_t last;

  constexpr Subtree child(std::int64_t m, std::int64_t times) const {
    return {static_cast<std::int32_t>(node + m * spacing), spacing * times, (last - m) / times};
  }
};

// How many nodes are in the subtrees of the first i children. REQUIRES: child i exists.
constexpr std::int64_t Tree::before_child(const Subtree& subtree, std::int32_t i) const {
  if (shape_ == Shape::kary) return Deal(subtree.last, arity_).before(i);
  // Below the children of one step, m = j * k^step, are the m with `step` zeros at the end.
  std::int64_t left = subtree.last;
  for (std::int32_t step = i / (arity_ - 1); step > 0; --step) left /= arity_;
  // The hands are the last digits 1 .. k-1 and then 0.
  return subtree.last - left + Deal(left, arity_).before(i % (arity_ - 1));
}

struct Tree::Place {
  Subtree subtree;
  std::int32_t parent;  // in-order number
};

// Walks from the root to the node that has in-order number `rank`. Each round of the loops divides
// what is left by the arity, so that there are O(log procs) of them in all.
constexpr Tree::Place Tree::find(std::int32_t rank) const {
  Subtree subtree{0, 1, procs_ - 1};
  std::int32_t parent = -1;
  std::int32_t number = 0;  // of subtree.node
  while (number != rank) {
    std::int64_t behind = rank - number - 1;  // the children's subtrees lie one behind the other
    std::int64_t left = subtree.last;
    std::int64_t power = 1;  // k^step
    if (shape_ != Shape::kary) {
      for (; behind >= left - left / arity_; left /= arity_, power *= arity_)
        behind -= left - left / arity_;
    }
    const Deal deal(left, arity_);
    const std::int64_t hand = deal.hand_of(behind);
    parent = number;
    number = static_cast<std::int32_t>(rank - (behind - deal.before(hand)));
    subtree = subtree.child((hand + 1) * power, power * arity_);
  }
  return {subtree, parent};
}

constexpr std::int32_t Tree::in_order_child(std::int32_t rank, std::int32_t i) const {
  const Subtree subtree = find(rank).subtree;
  if (node_child(subtree.node, i) < 0) return -1;
  return static_cast<std::int32_t>(rank + 1 + before_child(subtree, i));
}

constexpr std::int32_t Tree::size(std::int32_t rank) const {
  return static_cast<std::int32_t>(find(rank).subtree.last + 1);
}

constexpr std::int32_t Tree::in_order_parent(std::int32_t rank) const { return find(rank).parent; }

}  // namespace resprout::topology
