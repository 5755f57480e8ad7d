// The events of sections 3.2 to 3.6, one after the other, among processes with local views whose
// messages arrive in the order in which they were sent.
#include "protocols/local_membership/local_membership_test.hpp"

#include <algorithm>
#include <set>
#include <vector>

#include "doctest/doctest.h"

namespace resprout::protocols {
namespace {

using local_membership_test::count;
using local_membership_test::Group;
using local_membership_test::Machine;

TEST_CASE(
    "everybody knows the first view without a message, and nothing of anybody (section 3.2)") {
  Group group(7);
  CHECK(group.agreed_epoch() == 1);
  CHECK(group.said[5] == "install");
  for (int sent : group.sent) CHECK(sent == 0);
  CHECK(group.exceptions_max() == 0);
  for (int id = 0; id < 7; ++id)
    CHECK(group.at(1).is_neighbor(rank_at(id)) == (id == 0 || id == 3 || id == 4));
}

TEST_CASE("a failure is reported to the root and told down the tree, in one wave (section 3.4)") {
  Group group(15);
  group.kill(4);
  group.suspect(9, 4);
  group.run();
  CHECK(group.agreed_epoch() == 2);
  CHECK(count(group, LocalKind::report) == 1);
  CHECK(count(group, LocalKind::survey) == 0);
  CHECK(count(group, LocalKind::propose) == 13);
  CHECK(count(group, LocalKind::acceptance) == 13);
  // One of them to who is removed: it may be its predecessor that died.
  CHECK(count(group, LocalKind::install) == 14);
  CHECK(group.said[9] == "install detect:4 leave:4 install");
  CHECK(group.said[0] == "install decide leave:4 install");
  CHECK(group.at(1).is_neighbor(rank_at(9)));
  CHECK(group.at(9).is_neighbor(rank_at(1)));
}

TEST_CASE("a hole is remembered by those above and below it, and by nobody else") {
  Group group(15);
  group.kill(4);
  group.suspect(1, 4);
  group.run();
  for (int id = 0; id < 15; ++id) {
    if (id == 4) continue;
    const bool is_near = id == 1 || id == 9 || id == 10;
    CHECK(group.at(id).exceptions() == (is_near ? 1 : 0));
  }
}

TEST_CASE("if who remembered a hole dies, those who are left are counted before the proposal") {
  Group group(15);
  group.kill(9);
  group.suspect(4, 9);
  group.run();
  CHECK(count(group, LocalKind::survey) == 0);
  // Only 4 knew that there is nobody at 9.
  group.kill(4);
  group.suspect(1, 4);
  group.run();
  CHECK(count(group, LocalKind::survey) > 0);
  CHECK(group.agreed_epoch() == 3);
  CHECK(group.at(1).exceptions() == 2);
  CHECK(group.at(10).exceptions() == 1);
}

TEST_CASE("who asks for a hole and who it was with it may both have died just now") {
  Group group(15);
  for (int victim : {9, 4}) group.kill(victim);
  group.suspect(1, 4);
  group.run();
  CHECK(count(group, LocalKind::survey) > 0);
  CHECK(group.agreed_epoch() == 2);
}

TEST_CASE("a process may die after each step of a stabilization, any of them") {
  for (int steps = 0; steps < 60; ++steps)
    for (int victim = 0; victim < 15; ++victim) {
      if (victim == 4) continue;
      Group group(15);
      group.kill(4);
      group.suspect(1, 4);
      group.run(steps);
      group.kill(victim);
      group.suspect_everywhere(victim);
      group.suspect_everywhere(4);
      group.run();
      CAPTURE(steps);
      CAPTURE(victim);
      CHECK(group.agreed_epoch() >= 2);
    }
}

TEST_CASE("after the root's failure the next one in the list is root (section 3.6)") {
  Group group(7);
  group.kill(0);
  group.suspect(2, 0);
  group.run();
  CHECK(group.agreed_epoch() == 2);
  CHECK(group.said[1] == "install decide leave:0 install");
  CHECK(group.at(1).is_neighbor(rank_at(2)));
}

TEST_CASE("the root and others may fail together: a scan finds the new root") {
  Group group(15);
  for (int victim : {0, 1, 2, 6}) group.kill(victim);
  group.suspect(4, 1);
  group.run();
  CHECK(group.agreed_epoch() == 2);
  CHECK(group.at(14).view().root == rank_at(3));
}

TEST_CASE("all but one may die, if it is sure of that") {
  Group group(7);
  for (int victim = 0; victim < 6; ++victim) group.kill(victim);
  group.suspect(6, 2);
  group.run();
  CHECK(group.agreed_epoch() == 2);
  CHECK(group.at(6).view().members.count == 1);
}

TEST_CASE("one after the other dies, lowest or highest first, and nobody is forgotten") {
  for (const bool is_lowest_first : {true, false}) {
    Group group(32);
    for (int i = 0; i < 28; ++i) {
      const int victim = is_lowest_first ? i : 31 - i;
      group.kill(victim);
      group.suspect_everywhere(victim);
      group.run();
      CAPTURE(victim);
      CHECK(group.agreed_epoch() == i + 2);
    }
  }
}

TEST_CASE("who is wrongly suspected is fenced, and told") {
  Group group(7);
  group.suspect(1, 3, Evidence::silence);
  group.run();
  CHECK(group.at(3).standing() == Machine::Standing::excluded);
  CHECK(group.said[3] == "install exclude");
  CHECK_FALSE(group.at(1).may_receive(rank_at(3), 2));
  CHECK(group.at(5).view().members.count == 6);
}

TEST_CASE("an excluded process that still runs is a stranger to who inherits its place") {
  Group group(15);
  group.suspect(4, 9, Evidence::silence);
  group.run();
  CHECK(group.at(9).standing() == Machine::Standing::excluded);
  group.kill(4);
  group.suspect(1, 4);
  group.run();
  CHECK(count(group, LocalKind::stranger) == 1);
  CHECK(group.at(1).view() == group.at(14).view());
  CHECK(group.at(1).view().members.count == 13);
}

TEST_CASE("suspicions of those who are far away are left to who is near") {
  Group group(15);
  CHECK_FALSE(group.at(7).would_heed(rank_at(14), Evidence::death));
  CHECK_FALSE(group.at(7).would_heed(rank_at(7), Evidence::death));
  CHECK_FALSE(group.at(7).would_heed(rank_at(15), Evidence::death));
  CHECK(group.at(7).would_heed(rank_at(1), Evidence::silence));
  CHECK(group.at(6).would_heed(rank_at(14), Evidence::death));
}

TEST_CASE("of two sides of a cut only the majority goes on; after it the other is told") {
  Group group(7);
  const std::set<int> few{0, 1, 2};
  group.cut(few);
  // Each side finds out whom it does not hear, by whom it waits for.
  for (int round = 0; round < 20; ++round) {
    for (int id = 0; id < 7; ++id)
      for (int other = 0; other < 7; ++other)
        if (group.is_cut(id, other)) group.suspect(id, other, Evidence::silence);
    group.run();
  }
  for (int id : few) {
    CHECK(group.at(id).is_isolated());
    CHECK(group.at(id).view().epoch == 1);
  }
  for (int id : {3, 4, 5, 6}) {
    CHECK(group.at(id).view().members.count == 4);
    CHECK(group.at(id).view().root == rank_at(3));
  }
  group.cut({});
  for (int id : few) {
    group.wake(id);
    group.run();
    CHECK(group.at(id).standing() == Machine::Standing::excluded);
  }
}

TEST_CASE("messages of another view, or of a fenced process, may not be received") {
  Group group(7);
  CHECK(group.at(1).may_receive(rank_at(6), 1));
  CHECK_FALSE(group.at(1).may_receive(rank_at(6), 2));
  group.suspect(1, 3);
  CHECK_FALSE(group.at(1).may_receive(rank_at(3), 1));
}

TEST_CASE("a coordinator that takes over completes what it has accepted") {
  // 0 decides on all but 6, tells nobody, and is then suspected by 1.
  Group group(7);
  group.kill(6);
  group.suspect(2, 6);
  while (group.at(0).view().epoch == 1) group.run(1);
  CHECK(group.at(1).view().epoch == 1);
  group.kill(0);
  group.suspect(1, 0);
  group.run();
  CHECK(group.agreed_epoch() == 3);
  CHECK(group.said[1] == "install detect:0 leave:6 install decide leave:0 install");
}

TEST_CASE("who has no room for one change more ends as a member") {
  Group group(200, {{16}, 100});
  // More deaths at once among its children and theirs than a process can remember.
  for (int victim = 1; victim <= Machine::Message{}.changes.room + 1; ++victim) {
    group.kill(victim);
    group.suspect_everywhere(victim);
  }
  group.run();
  CHECK(group.at(0).standing() == Machine::Standing::excluded);
  CHECK(group.said[0].ends_with("exclude"));
}

TEST_CASE("what a process remembers does not grow with their number") {
  // The same deaths, of inner nodes, leaves and the root, among few and among many.
  std::vector<std::int32_t> most;
  for (const int procs : {64, 1024, 16384}) {
    Group group(procs);
    for (int victim : {5, 11, 2, procs - 1, 0}) {
      group.kill(victim);
      group.suspect_everywhere(victim);
      group.run();
    }
    CHECK(group.agreed_epoch() == 6);
    most.push_back(group.exceptions_max());
  }
  CHECK(most[0] == most[1]);
  CHECK(most[1] == most[2]);
  CHECK(most[2] <= 3);
}

TEST_CASE("every radix keeps the same promises") {
  for (int radix : {2, 4, 8, 16}) {
    const MembershipConfig config{{radix}, 100};
    Group group(100, config);
    for (int victim : {0, 3, 17, 99}) group.kill(victim);
    for (int victim : {0, 3, 17, 99}) group.suspect_everywhere(victim);
    group.run();
    CHECK(group.agreed_epoch() >= 2);
    CHECK(group.at(20).view().members.count == 96);
  }
}

TEST_CASE("spurious calls change nothing") {
  Group group(3);
  group.suspect(1, 1);
  group.suspect(1, 9);
  group.wake(1);
  group.at(1).handle_message({0}, {});
  group.run();
  CHECK(group.agreed_epoch() == 1);
  CHECK_FALSE(group.at(1).poll_send());
  CHECK_FALSE(group.at(1).poll_event());
}

}  // namespace
}  // namespace resprout::protocols
