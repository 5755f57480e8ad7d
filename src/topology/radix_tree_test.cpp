// See radix_tree.hpp.
#include "topology/radix_tree.hpp"

#include <set>

#include "doctest/doctest.h"

using resprout::topology::RadixTree;

namespace {

// The children of `id` among `members`.
std::set<int> children(const RadixTree& tree, const std::set<int>& members, int id) {
  std::set<int> found;
  for (int member : members)
    if (tree.parent_among(member, *members.begin(), [&](int m) { return members.contains(m); }) ==
        id)
      found.insert(member);
  return found;
}

std::set<int> up_to(int count) {
  std::set<int> all;
  for (int id = 0; id < count; ++id) all.insert(id);
  return all;
}

}  // namespace

TEST_CASE("a radix is a power of two") {
  for (int radix : {2, 4, 8, 16, 1024}) CHECK(RadixTree::is_radix(radix));
  for (int radix : {-2, 0, 1, 3, 6, 12, 2048}) CHECK_FALSE(RadixTree::is_radix(radix));
}

TEST_CASE("the digits of an identifier are the way from the root to it") {
  for (int radix : {2, 4, 8, 16}) {
    const RadixTree tree{radix};
    CHECK(tree.parent(0) == -1);
    for (int id = 0; id < 300; ++id)
      for (int digit = 0; digit < radix; ++digit) CHECK(tree.parent(id * radix + 1 + digit) == id);
    CHECK(tree.level(0) == 0);
    CHECK(tree.level(radix) == 1);
    CHECK(tree.level(radix + 1) == 2);
  }
}

TEST_CASE("the children of a failed process belong to its parent (section 3.4)") {
  std::set<int> members = up_to(15);
  members.erase(4);
  CHECK(children({2}, members, 1) == std::set{3, 9, 10});
  members.erase(1);
  CHECK(children({2}, members, 0) == std::set{2, 3, 9, 10});
}

TEST_CASE("after the root's failure the next one is everybody's root (section 3.6)") {
  std::set<int> members = up_to(15);
  members.erase(0);
  CHECK(children({2}, members, 1) == std::set{2, 3, 4});
  members.erase(1);
  CHECK(children({2}, members, 2) == std::set{3, 4, 5, 6});
}

TEST_CASE("a new process is a leaf, a recovered one stands where it stood (section 3.7)") {
  std::set<int> members = up_to(15);
  members.insert(15);
  CHECK(children({2}, members, 15).empty());
  CHECK(children({2}, members, 7) == std::set{15});
  members.erase(3);
  members.insert(3);
  CHECK(children({2}, members, 3) == std::set{7, 8});
}

TEST_CASE("whoever is missing, every member but the root is the child of exactly one") {
  for (int radix : {2, 4, 8, 16})
    for (unsigned missing = 0; missing < 1u << 10; ++missing) {
      std::set<int> members = up_to(24);
      for (int id = 0; id < 10; ++id)
        if ((missing >> id & 1) != 0) members.erase(id);
      std::size_t seen = 1;
      for (int id : members) seen += children({radix}, members, id).size();
      CHECK(seen == members.size());
      const auto is_member = [&](int id) { return members.contains(id); };
      for (int id : members)
        CHECK(RadixTree{radix}.level_among(id, *members.begin(), is_member) < 24);
    }
}
