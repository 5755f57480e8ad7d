// Trees over consecutive ranks, each subtree a range: what a cursor can walk, and a non-commutative
// operator can be folded over.
//
// FTCO, section 5.2.1: k-ary and k-nomial trees, with one root or with several that know each
// other. Of n ranks under r roots each tree has n / r, the first ones one more.
//
// Invariants
//  1. The children of a rank, in ascending order, cut the range behind it into their subtrees: the
//     first child is rank + 1, and behind the subtree of one child begins the next one.
//  2. parent(rank) < rank.
// Thread rule: a value, no state.
#pragma once

#include <algorithm>
#include <cstdint>

#include "topology/range_tree.hpp"
#include "topology/tree.hpp"

namespace resprout::topology {

enum class RangeShape : std::uint8_t {
  ranges,   // k-nomial, as RangeTree has it: the smallest subtree first
  knomial,  // k-nomial, as Tree numbers it in-order: the largest subtree first
  kary,     // k-ary, likewise
};

// What a forest answers about one rank.
struct RangeRelatives {
  std::int32_t parent;  // -1: none
  std::int32_t size;    // of its subtree
  std::int32_t children;
};

struct RangeForest {
  std::int32_t begin;  // the forest spans [begin, end)
  std::int32_t end;    // > begin
  std::int32_t radix;  // >= 2
  RangeShape shape;
  std::int32_t roots;      // of the trees, 1 .. end - begin
  bool is_headed = false;  // the first root is the parent of the others, behind its other children
  // Of all ranks from `begin` on, as relatives() gives them: then nothing is computed again.
  const RangeRelatives* known = nullptr;

  constexpr RangeRelatives relatives(std::int32_t rank) const {
    return {parent(rank), size(rank), children(rank)};
  }

  // The i-th root; `end` for i = roots.
  constexpr std::int32_t root(std::int32_t i) const {
    const std::int32_t each = (end - begin) / roots;
    return begin + i * each + std::min(i, (end - begin) % roots);
  }

  // In which tree it is. REQUIRES, here and below: begin <= rank < end.
  constexpr std::int32_t tree_of(std::int32_t rank) const {
    if (roots == 1) return 0;
    const std::int32_t each = (end - begin) / roots;
    const std::int32_t larger = (end - begin) % roots;  // so many trees have one more
    const std::int32_t offset = rank - begin;
    if (offset < larger * (each + 1)) return offset / (each + 1);
    return larger + (offset - larger * (each + 1)) / each;
  }

  // Whether it is nobody's child.
  constexpr bool is_root(std::int32_t rank) const {
    if (known != nullptr) return known[rank - begin].parent < 0;
    return is_headed ? rank == begin : rank == root(tree_of(rank));
  }

  // The other roots, of a root.
  constexpr std::int32_t fellows() const { return is_headed ? 0 : roots - 1; }

  // The number of ranks in the subtree of `rank`, itself included.
  constexpr std::int32_t size(std::int32_t rank) const {
    if (known != nullptr) return known[rank - begin].size;
    if (is_headed && rank == begin) return end - begin;
    const Span span = span_of(rank);
    if (shape == RangeShape::ranges) return RangeTree{span.begin, span.end, radix}.size(rank);
    return tree(span).size(rank - span.begin);
  }

  // -1 for a root.
  constexpr std::int32_t parent(std::int32_t rank) const {
    if (known != nullptr) return known[rank - begin].parent;
    const Span span = span_of(rank);
    if (rank == span.begin) return is_headed && rank != begin ? begin : -1;
    if (shape == RangeShape::ranges) return RangeTree{span.begin, span.end, radix}.parent(rank);
    return span.begin + tree(span).parent(rank - span.begin);
  }

  // Calls f(child, its place among its siblings) for each child in ascending order.
  template <typename F>
  constexpr void for_each_child(std::int32_t rank, F f) const {
    const std::int32_t behind = rank + size(rank);
    std::int32_t place = 0;
    for (std::int32_t child = rank + 1; child < behind; child += size(child)) f(child, place++);
  }

  constexpr std::int32_t children(std::int32_t rank) const {
    if (known != nullptr) return known[rank - begin].children;
    std::int32_t count = 0;
    for_each_child(rank, [&count](std::int32_t, std::int32_t) { ++count; });
    return count;
  }

  // How many levels `below` is below `above`; 0 if it is not in its subtree.
  constexpr std::int32_t levels_between(std::int32_t above, std::int32_t below) const {
    std::int32_t levels = 0;
    for (std::int32_t at = below; at >= above; at = parent(at), ++levels)
      if (at == above) return levels;
    return 0;
  }

 private:
  struct Span {
    std::int32_t begin;
    std::int32_t end;
  };

  constexpr Span span_of(std::int32_t rank) const {
    if (roots == 1) return {begin, end};
    const std::int32_t i = tree_of(rank);
    return {root(i), root(i + 1)};
  }

  constexpr Tree tree(const Span& span) const {
    const Shape of_tree = shape == RangeShape::kary ? Shape::kary : Shape::knomial;
    return {of_tree, Numbering::in_order, radix, span.end - span.begin};
  }
};

}  // namespace resprout::topology
