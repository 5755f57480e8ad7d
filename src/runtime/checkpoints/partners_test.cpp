// Who keeps whose copies.
#include "runtime/checkpoints/partners.hpp"

#include "doctest/doctest.h"

namespace resprout::runtime {
namespace {

using Ranks = std::vector<int>;

TEST_CASE("a rank's partner is the one at its place on the next host") {
  CHECK(partners_of(Ranks{7, 7, 3, 3}) == Ranks{2, 3, 0, 1});
  CHECK(partners_of(Ranks{1, 1, 2, 2, 3, 3}) == Ranks{2, 3, 4, 5, 0, 1});
  CHECK(partners_of(Ranks{1, 2, 1, 2}) == Ranks{1, 0, 3, 2});
}

TEST_CASE("where the next host has fewer ranks one keeps the copies of several") {
  CHECK(partners_of(Ranks{1, 1, 1, 2}) == Ranks{3, 3, 3, 0});
}

TEST_CASE("on one host nobody has a partner") {
  CHECK(partners_of(Ranks{4, 4}) == Ranks{-1, -1});
  CHECK(partners_of(Ranks{4}) == Ranks{-1});
}

TEST_CASE("the ranks of a host are found") {
  CHECK(ranks_beside(Ranks{1, 2, 1, 2}, 3) == Ranks{1, 3});
}

}  // namespace
}  // namespace resprout::runtime
