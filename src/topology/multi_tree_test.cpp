// See multi_tree.hpp.
#include "topology/multi_tree.hpp"

#include <set>
#include <vector>

#include "doctest/doctest.h"

using namespace resprout::topology;

namespace {

std::vector<std::int32_t> children(const MultiTree& trees, std::int32_t tree, std::int32_t rank) {
  std::vector<std::int32_t> all;
  for (std::int32_t i = 0; trees.child(tree, rank, i) >= 0; ++i)
    all.push_back(trees.child(tree, rank, i));
  return all;
}

}  // namespace

TEST_CASE("in each tree each rank is the child of its parent, and of nobody else") {
  for (std::int32_t procs = 1; procs <= 60; ++procs)
    for (std::int32_t count = 1; count <= 5; ++count)
      for (const std::int32_t arity : {1, count, count + 1, 9}) {
        const MultiTree trees(procs, count, arity);
        for (std::int32_t tree = 0; tree < count; ++tree) {
          std::vector<int> seen(static_cast<std::size_t>(procs), 0);
          for (std::int32_t rank = 0; rank < procs; ++rank)
            for (const std::int32_t child : children(trees, tree, rank)) {
              REQUIRE(trees.parent(tree, child) == rank);
              ++seen[static_cast<std::size_t>(child)];
            }
          REQUIRE(seen[0] == 0);
          for (std::int32_t rank = 1; rank < procs; ++rank)
            REQUIRE(seen[static_cast<std::size_t>(rank)] == 1);
        }
      }
}

TEST_CASE("disjoint trees: nobody but the root is an inner node of two") {
  int disjoint = 0;
  for (std::int32_t procs = 1; procs <= 200; ++procs)
    for (std::int32_t count = 1; count <= 5; ++count) {
      const MultiTree trees(procs, count, count + 1);
      std::set<std::int32_t> inner;
      std::size_t expected = 0;
      for (std::int32_t tree = 0; tree < count; ++tree)
        for (std::int32_t rank = 1; rank < procs; ++rank)
          if (!children(trees, tree, rank).empty()) {
            inner.insert(rank);
            ++expected;
          }
      if (trees.is_disjoint()) CHECK(inner.size() == expected);
      if (trees.is_disjoint()) ++disjoint;
      if (procs > 50) CHECK(trees.is_disjoint());
    }
  CHECK(disjoint > 800);
}
