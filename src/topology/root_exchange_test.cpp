// Roots that give each other what they have.
#include "topology/root_exchange.hpp"

#include <set>
#include <vector>

#include "doctest/doctest.h"

namespace resprout::topology {
namespace {

RootExchange of_root(std::int32_t own, std::int32_t roots, bool is_doubling) {
  const RangeForest forest{0, 3 * roots, 2, RangeShape::ranges, roots};
  return {forest, own, is_doubling};
}

TEST_CASE("by doubling, partners choose each other, and all parts are everywhere in the end") {
  for (const std::int32_t roots : {2, 4, 8, 64}) {
    std::vector<std::set<std::int32_t>> parts;
    for (std::int32_t own = 0; own < roots; ++own) parts.push_back({own});
    for (std::int32_t i = 0; i < of_root(0, roots, true).count(); ++i) {
      const auto before = parts;
      for (std::int32_t own = 0; own < roots; ++own) {
        const RootExchange exchange = of_root(own, roots, true);
        const std::int32_t other = exchange.forest.tree_of(exchange.partner(i));
        CHECK(of_root(other, roots, true).partner(i) == exchange.forest.root(own));
        for (const std::int32_t part : before[static_cast<std::size_t>(other)])
          CHECK(parts[static_cast<std::size_t>(own)].insert(part).second);
      }
    }
    for (const auto& all : parts) CHECK(all.size() == static_cast<std::size_t>(roots));
  }
}

TEST_CASE("by doubling, each exchange is told and folded before the next one") {
  const RootExchange exchange = of_root(5, 8, true);
  CHECK(exchange.count() == 3);
  CHECK(exchange.may_tell(0, 0));
  CHECK_FALSE(exchange.may_fold(0, 0));
  CHECK_FALSE(exchange.may_tell(1, 0));
  CHECK(exchange.may_fold(1, 0));
  CHECK(exchange.may_tell(1, 1));
  CHECK_FALSE(exchange.may_tell(3, 3));
  CHECK_FALSE(exchange.may_fold(3, 3));
}

TEST_CASE("else all is told before anything is folded") {
  const RootExchange exchange = of_root(1, 4, false);
  CHECK(exchange.count() == 3);
  CHECK(exchange.partner(0) == 6);
  CHECK(exchange.partner(2) == 0);
  CHECK(exchange.may_tell(2, 0));
  CHECK_FALSE(exchange.may_fold(2, 0));
  CHECK(exchange.may_fold(3, 2));
}

}  // namespace
}  // namespace resprout::topology
