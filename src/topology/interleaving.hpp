// Whether a tree is interleaved: Definition 1 of Corrected Trees, section 3.2.
//
// The definition, word for word, for any tree with parent() and procs(); no memory, and therefore
// slow: O(procs^2 log procs). Thread rule: pure functions.
#pragma once

#include <cstdint>

namespace resprout::topology {

// REQUIRES: parents have lower ranks than their children.
template <typename T>
constexpr bool descends_from(const T& tree, std::int32_t rank, std::int32_t ancestor) {
  while (rank > ancestor) rank = tree.parent(rank);
  return rank == ancestor;
}

// The lowest of all common ancestors; a rank counts as its own ancestor.
template <typename T>
constexpr std::int32_t common_ancestor(const T& tree, std::int32_t a, std::int32_t b) {
  while (a != b) (a > b ? a : b) = tree.parent(a > b ? a : b);
  return a;
}

// Two neighbors on the ring of a subtree descend from each other, or their only common ancestor in
// the subtree is its root.
template <typename T>
constexpr bool may_be_neighbors(const T& tree, std::int32_t subtree, std::int32_t a,
                                std::int32_t b) {
  const std::int32_t common = common_ancestor(tree, a, b);
  return common == a || common == b || common == subtree;
}

template <typename T>
constexpr bool is_interleaved(const T& tree) {
  for (std::int32_t root = 0; root < tree.procs(); ++root) {
    std::int32_t before = root;  // the ring of the subtree begins with its lowest rank
    for (std::int32_t rank = root + 1; rank < tree.procs(); ++rank) {
      if (!descends_from(tree, rank, root)) continue;
      if (!may_be_neighbors(tree, root, before, rank)) return false;
      before = rank;
    }
    if (!may_be_neighbors(tree, root, before, root)) return false;  // the ring is closed
  }
  return true;
}

}  // namespace resprout::topology
