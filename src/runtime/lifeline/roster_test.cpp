#include "runtime/lifeline/roster.hpp"

#include <set>

#include "core/random.hpp"
#include "doctest/doctest.h"

namespace resprout::runtime {
namespace {

TEST_CASE("with everybody alive the targets are those of the binomial graph") {
  CHECK(Roster(0, 8).link_targets() == std::vector<int>{1, 2, 4});
  CHECK(Roster(6, 8).link_targets() == std::vector<int>{7, 0, 2});
  CHECK(Roster(2, 3).link_targets() == std::vector<int>{0, 1});
  CHECK(Roster(0, 1).link_targets().empty());
}

TEST_CASE("who is gone is gone for good, and noted once") {
  Roster roster(0, 4);
  CHECK(roster.note(2, Standing::left));
  CHECK_FALSE(roster.note(2, Standing::lost));
  CHECK(roster.standing(2) == Standing::left);
  CHECK(roster.link_targets() == std::vector<int>{1, 3});
}

TEST_CASE("who is lost has not left") {
  Roster roster(0, 4);
  CHECK(roster.note(2, Standing::lost));
  CHECK_FALSE(roster.has_anybody_left());
  CHECK(roster.note(1, Standing::left));
  CHECK(roster.has_anybody_left());
}

TEST_CASE("whoever is gone, the links of the living connect them all") {
  Random random(1);
  for (int run = 0; run < 500; ++run) {
    const int size = 2 + static_cast<int>(random.below(40));
    std::set<int> gone;
    for (int rank = 0; rank < size; ++rank)
      if (random.chance(run % 10, 10)) gone.insert(rank);
    std::vector<std::vector<int>> links(static_cast<std::size_t>(size));
    int living = -1;
    for (int rank = 0; rank < size; ++rank) {
      if (gone.contains(rank)) continue;
      living = rank;
      Roster roster(rank, size);
      for (const int other : gone) roster.note(other, Standing::lost);
      for (const int target : roster.link_targets()) {
        CHECK_FALSE(gone.contains(target));
        links[static_cast<std::size_t>(rank)].push_back(target);
        links[static_cast<std::size_t>(target)].push_back(rank);
      }
    }
    if (living < 0) continue;
    std::set<int> reached = {living};
    std::vector<int> open = {living};
    while (!open.empty()) {
      const int rank = open.back();
      open.pop_back();
      for (const int next : links[static_cast<std::size_t>(rank)])
        if (reached.insert(next).second) open.push_back(next);
    }
    CHECK(reached.size() + gone.size() == static_cast<std::size_t>(size));
  }
}

}  // namespace
}  // namespace resprout::runtime
