// The k-nomial tree whose subtrees are ranges: the subtree of rank r is [r, r + size(r)).
//
// FTCO, section 5.2.1, uses k-nomial trees; numbering them in-order makes "everything below r" an
// interval, which a cursor can walk and a non-commutative operator can be folded over.
//
// Invariants
//  1. The children of r, in ascending order, cut [r + 1, r + size(r)) into their own subtrees: the
//     first child is r + 1, and behind the subtree of one child begins the next one.
//  2. parent(r) < r.
// Thread rule: a value, no state.
#pragma once

#include <algorithm>
#include <cstdint>

namespace resprout::topology {

struct RangeTree {
  std::int32_t root;   // the tree spans [root, end)
  std::int32_t end;    // > root
  std::int32_t radix;  // >= 2

  // The number of ranks in the subtree of `rank`, itself included. REQUIRES: root <= rank < end.
  constexpr std::int32_t size(std::int32_t rank) const {
    if (rank == root) return end - root;
    return static_cast<std::int32_t>(std::min<std::int64_t>(step(rank), end - rank));
  }

  // REQUIRES: root < rank < end.
  constexpr std::int32_t parent(std::int32_t rank) const {
    const std::int64_t offset = rank - root;
    return static_cast<std::int32_t>(rank - offset % (step(rank) * radix));
  }

 private:
  // The value of the lowest non-zero digit's place of rank - root, written in base `radix`.
  constexpr std::int64_t step(std::int32_t rank) const {
    const std::int64_t offset = rank - root;
    std::int64_t place = 1;
    while (offset % (place * radix) == 0) place *= radix;
    return place;
  }
};

}  // namespace resprout::topology
