// Whom a walk meets, against the definition: the nearest member above is the parent.
#include "topology/radix_walk.hpp"

#include <vector>

#include "doctest/doctest.h"

namespace resprout::topology {
namespace {

std::vector<std::int32_t> met(const RadixWalk& walk, const std::vector<bool>& members, int self) {
  const auto is_gap = [&](std::int32_t id) {
    return id == self || !members[static_cast<std::size_t>(id)];
  };
  std::vector<std::int32_t> children;
  for (std::int32_t id = walk.first(is_gap); id >= 0; id = walk.next(id, is_gap))
    children.push_back(id);
  return children;
}

TEST_CASE("a walk meets the children in a whole tree, from left to right") {
  const std::vector<bool> all(12, true);
  CHECK(met({{4}, 12, 0}, all, 0) == std::vector<std::int32_t>{1, 2, 3, 4});
  CHECK(met({{4}, 12, 2}, all, 2) == std::vector<std::int32_t>{9, 10, 11});
  CHECK(met({{4}, 12, 5}, all, 5).empty());
  CHECK(met({{2}, 1, -1}, all, 0).empty());
}

TEST_CASE("a walk descends through gaps, however many follow each other") {
  std::vector<bool> members(31, true);
  for (int gap : {1, 4, 9, 19}) members[static_cast<std::size_t>(gap)] = false;
  CHECK(met({{2}, 31, 0}, members, 0) == std::vector<std::int32_t>{3, 20, 10, 2});
}

TEST_CASE("walks of all members together meet each of the others once: whoever is its child") {
  std::uint64_t state = 7;
  for (int round = 0; round < 2000; ++round) {
    const RadixTree tree{2 << (round % 3)};
    std::vector<bool> members(static_cast<std::size_t>(1 + round % 70));
    std::int32_t root = -1;
    for (std::size_t id = 0; id < members.size(); ++id) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      members[id] = state >> 62 != 0 || round % 5 == 0;
      if (root < 0 && members[id]) root = static_cast<std::int32_t>(id);
    }
    if (root < 0) continue;
    const auto is_member = [&](std::int32_t id) { return members[static_cast<std::size_t>(id)]; };
    const auto limit = static_cast<std::int32_t>(members.size());
    std::vector<int> meetings(members.size());
    for (std::int32_t id = 0; id < limit; ++id) {
      if (!is_member(id)) continue;
      for (std::int32_t child : met({tree, limit, id == root ? -1 : id}, members, id)) {
        ++meetings[static_cast<std::size_t>(child)];
        CHECK(tree.parent_among(child, root, is_member) == id);
      }
    }
    for (std::int32_t id = 0; id < limit; ++id)
      CHECK(meetings[static_cast<std::size_t>(id)] == (is_member(id) && id != root ? 1 : 0));
  }
}

}  // namespace
}  // namespace resprout::topology
