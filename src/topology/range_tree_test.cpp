// The tree of ranges: its two invariants, for many sizes, radixes and roots.
#include "topology/range_tree.hpp"

#include "doctest/doctest.h"

namespace resprout::topology {
namespace {

TEST_CASE("children, in ascending order, cut their parent's range into their own ranges") {
  for (std::int32_t radix = 2; radix <= 9; ++radix)
    for (std::int32_t root = 0; root < 5; ++root)
      for (std::int32_t end = root + 1; end < root + 140; ++end) {
        const RangeTree tree{root, end, radix};
        for (std::int32_t rank = root; rank < end; ++rank) {
          const std::int32_t behind = rank + tree.size(rank);
          REQUIRE(behind <= end);
          std::int32_t child = rank + 1;
          while (child < behind) {
            REQUIRE(tree.parent(child) == rank);
            child += tree.size(child);
          }
          REQUIRE(child == behind);
        }
      }
}

TEST_CASE("a k-nomial node has at most radix - 1 children on each level") {
  const RangeTree tree{0, 1 << 20, 4};
  std::int32_t children = 0;
  for (std::int32_t child = 1; child < tree.end; child += tree.size(child)) ++children;
  CHECK(children == 3 * 10);
}

TEST_CASE("the largest tree does not overflow") {
  constexpr std::int32_t most = 0x7fffffff;
  const RangeTree tree{0, most, 1 << 16};
  CHECK(tree.size(0) == most);
  CHECK(tree.size(1 << 16) == 1 << 16);
  CHECK(tree.parent(most - 1) == ((most - 1) & ~0xffff));
  CHECK(tree.parent(1 << 16) == 0);
}

}  // namespace
}  // namespace resprout::topology
