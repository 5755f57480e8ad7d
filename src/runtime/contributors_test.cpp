#include "runtime/contributors.hpp"

#include <doctest/doctest.h>

namespace resprout::runtime {
namespace {

// Ranks 0, 2 and 5 of a communicator.
std::shared_ptr<const Members> members() {
  return std::make_shared<const Members>(std::vector<Member>{{0, 10}, {2, 12}, {5, 15}}, 2);
}

TEST_CASE("before any operation nobody has contributed") { CHECK(Contributors().ranks().empty()); }

TEST_CASE("all members contribute but the excluded, by their ranks in the communicator") {
  Contributors contributors;
  contributors.set(members(), {});
  CHECK(contributors.ranks() == std::vector{0, 2, 5});
  contributors.set(members(), {rank_at(1)});
  CHECK(contributors.ranks() == std::vector{0, 5});
}

TEST_CASE("to a broadcast only its root contributes") {
  Contributors contributors;
  contributors.set(members(), {}, rank_at(2));
  CHECK(contributors.ranks() == std::vector{5});
  contributors.clear();
  CHECK(contributors.ranks().empty());
}

}  // namespace
}  // namespace resprout::runtime
