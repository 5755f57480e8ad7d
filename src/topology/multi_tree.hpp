// Several trees over the same processes in which different processes are inner nodes.
//
// Corrected Trees, section 5, on multi-tree broadcasts: "non-leaf nodes of different trees do not
// map to the same processes", which takes a higher fan-out. Here: the root, 0, is outside; the
// others, at places 0 .. others-1 of a circle, form one k-ary heap a tree, in which the inner nodes
// are the first `inner` places; each tree begins where the inner nodes of the one before end.
//
// Invariants
//  1. In each tree, each rank but 0 is the child of exactly one rank.
//  2. If is_disjoint(), nobody but the root is an inner node of two trees: then the ways from the
//     root to a process in different trees have nobody else in common.
// Cost: O(1), no memory. Thread rule: a value.
#pragma once

#include <cstdint>

namespace resprout::topology {

class MultiTree {
 public:
  // REQUIRES: procs >= 1, trees >= 1, arity >= 1.
  constexpr MultiTree(std::int32_t procs, std::int32_t trees, std::int32_t arity)
      : others_(procs - 1), trees_(trees), arity_(arity) {}

  constexpr std::int32_t procs() const { return others_ + 1; }
  constexpr std::int32_t trees() const { return trees_; }

  constexpr bool is_disjoint() const { return std::int64_t{trees_} * inner() <= others_; }

  // The i-th that `rank` sends to in `tree`, -1 if there are fewer.
  constexpr std::int32_t child(std::int32_t tree, std::int32_t rank, std::int32_t i) const {
    if (rank == 0) return i == 0 && others_ > 0 ? rank_of(tree, 0) : -1;
    const std::int64_t child = std::int64_t{place_of(tree, rank)} * arity_ + i + 1;
    return i < arity_ && child < others_ ? rank_of(tree, static_cast<std::int32_t>(child)) : -1;
  }

  // -1 for the root.
  constexpr std::int32_t parent(std::int32_t tree, std::int32_t rank) const {
    if (rank == 0) return -1;
    const std::int32_t place = place_of(tree, rank);
    return place == 0 ? 0 : rank_of(tree, (place - 1) / arity_);
  }

 private:
  // Those with children, besides the root.
  constexpr std::int64_t inner() const { return (others_ - 1 + std::int64_t{arity_} - 1) / arity_; }
  constexpr std::int64_t begin(std::int32_t tree) const { return tree * inner() % others_; }
  constexpr std::int32_t rank_of(std::int32_t tree, std::int32_t place) const {
    return static_cast<std::int32_t>(1 + (begin(tree) + place) % others_);
  }
  constexpr std::int32_t place_of(std::int32_t tree, std::int32_t rank) const {
    return static_cast<std::int32_t>((rank - 1 - begin(tree) + others_) % others_);
  }

  std::int32_t others_;
  std::int32_t trees_;
  std::int32_t arity_;
};

}  // namespace resprout::topology
