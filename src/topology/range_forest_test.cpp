// See range_forest.hpp.
#include "topology/range_forest.hpp"

#include <vector>

#include "doctest/doctest.h"

namespace resprout::topology {
namespace {

std::vector<RangeForest> forests() {
  std::vector<RangeForest> all;
  for (const RangeShape shape : {RangeShape::ranges, RangeShape::knomial, RangeShape::kary})
    for (int procs = 1; procs <= 40; ++procs)
      for (int radix = 2; radix <= 5; ++radix)
        for (int roots = 1; roots <= std::min(radix, procs); ++roots)
          for (const int begin : {0, 3}) all.push_back({begin, begin + procs, radix, shape, roots});
  return all;
}

}  // namespace

TEST_CASE("children cut the range behind their parent into subtrees, and know their parent") {
  for (const RangeForest& forest : forests()) {
    CAPTURE(forest.begin);
    CAPTURE(forest.end);
    CAPTURE(forest.radix);
    CAPTURE(forest.roots);
    for (std::int32_t rank = forest.begin; rank < forest.end; ++rank) {
      std::int32_t covered = 1;
      std::int32_t seen = 0;
      forest.for_each_child(rank, [&](std::int32_t child, std::int32_t place) {
        CHECK(forest.parent(child) == rank);
        CHECK(forest.levels_between(rank, child) == 1);
        CHECK(place == seen++);
        covered += forest.size(child);
      });
      CHECK(covered == forest.size(rank));
      CHECK(seen == forest.children(rank));
    }
  }
}

TEST_CASE("the roots share the ranks out evenly, and are nobody's children") {
  for (const RangeForest& forest : forests()) {
    std::int32_t roots = 0;
    for (std::int32_t rank = forest.begin; rank < forest.end; ++rank) {
      CHECK(forest.is_root(rank) == (forest.parent(rank) == -1));
      if (!forest.is_root(rank)) continue;
      CHECK(forest.root(roots) == rank);
      CHECK(forest.tree_of(rank) == roots);
      const std::int32_t even = (forest.end - forest.begin) / forest.roots;
      CHECK((forest.size(rank) == even || forest.size(rank) == even + 1));
      ++roots;
    }
    CHECK(roots == forest.roots);
    CHECK(forest.root(roots) == forest.end);
  }
}

TEST_CASE("a forest that looks its relatives up answers as the one that computes them") {
  for (const RangeForest& forest : forests()) {
    std::vector<RangeRelatives> table;
    for (std::int32_t rank = forest.begin; rank < forest.end; ++rank)
      table.push_back(forest.relatives(rank));
    RangeForest known = forest;
    known.known = table.data();
    for (std::int32_t rank = forest.begin; rank < forest.end; ++rank) {
      CHECK(known.parent(rank) == forest.parent(rank));
      CHECK(known.size(rank) == forest.size(rank));
      CHECK(known.children(rank) == forest.children(rank));
      CHECK(known.is_root(rank) == forest.is_root(rank));
    }
  }
}

TEST_CASE("a k-nomial tree with its nearest children as fellow roots is the k-nomial forest") {
  // Radix 3, 27 ranks: each root of three has 2 children on each of two levels.
  constexpr RangeForest forest{0, 27, 3, RangeShape::knomial, 3};
  static_assert(forest.children(0) == 4 && forest.children(9) == 4 && forest.size(9) == 9);
  // The largest subtree comes first.
  static_assert(forest.size(1) == 3 && forest.parent(2) == 1);
  static_assert(forest.levels_between(0, 2) == 2 && forest.levels_between(9, 2) == 0);
  CHECK(forest.root(2) == 18);
}

}  // namespace resprout::topology
