// A walk through a radix tree by those who know only where its gaps are, not who its members are.
//
// Scalable Membership, section 3.4: where somebody is no member, its children belong to the nearest
// member above. So whom a process has below it is found by descending through the gaps under it,
// and nothing else of the tree has to be known: not how many there are, nor who is elsewhere.
//
// Thread rule: pure functions.
#pragma once

#include <cstdint>

#include "topology/radix_tree.hpp"

namespace resprout::topology {

// The part of a radix tree under `top`, of the identifiers below `limit`.
struct RadixWalk {
  RadixTree tree;
  std::int32_t limit;
  std::int32_t top;  // -1: above all, so that the walk is through the whole tree

  // The first, and the next one after `child`, of the members right below the top in the order of a
  // walk from left to right; is_gap(id) tells whose children are walked to in its place. -1: none.
  template <typename IsGap>
  constexpr std::int32_t first(IsGap is_gap) const {
    return past_gaps(top < 0 ? (limit > 0 ? 0 : -1) : below(top), is_gap);
  }
  template <typename IsGap>
  constexpr std::int32_t next(std::int32_t child, IsGap is_gap) const {
    return past_gaps(beside(child), is_gap);
  }

 private:
  // The next identifier in a walk that descends from `id`: its first child, or what comes after it.
  constexpr std::int32_t below(std::int32_t id) const {
    const std::int64_t child = std::int64_t{tree.radix} * id + 1;
    if (child < limit) return static_cast<std::int32_t>(child);
    return id == top ? -1 : beside(id);
  }
  // The next sibling, or that of the nearest one above that has one.
  constexpr std::int32_t beside(std::int32_t id) const {
    for (; id > 0 && id != top; id = tree.parent(id))
      if (id % tree.radix != 0 && id + 1 < limit) return id + 1;
    return -1;
  }
  template <typename IsGap>
  constexpr std::int32_t past_gaps(std::int32_t id, IsGap is_gap) const {
    while (id >= 0 && is_gap(id)) id = below(id);
    return id;
  }
};

// The nearest one above that is no gap; -1: there is none.
template <typename IsGap>
constexpr std::int32_t nearest_above(RadixTree tree, std::int32_t id, IsGap is_gap) {
  do id = tree.parent(id);
  while (id >= 0 && is_gap(id));
  return id;
}

}  // namespace resprout::topology
