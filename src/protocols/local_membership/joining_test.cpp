// Section 3.7 with local views: new processes, and recovered ones under their old identifiers.
#include "protocols/local_membership/local_membership_test.hpp"

#include <vector>

#include "doctest/doctest.h"

namespace resprout::protocols {
namespace {

using local_membership_test::count;
using local_membership_test::Group;
using local_membership_test::Machine;

std::vector<Rank> only(int id) { return {rank_at(id)}; }

TEST_CASE("a new process is in, whomever it asks, and nobody redirects it (section 3.7)") {
  for (int contact = 0; contact < 7; ++contact) {
    Group group(7);
    group.join(7, only(contact));
    CHECK_FALSE(group.at(7).is_member());
    group.run();
    CAPTURE(contact);
    CHECK(group.agreed_epoch() == 2);
    CHECK(count(group, LocalKind::join) == 1);
    CHECK(count(group, LocalKind::report) == (contact == 0 ? 0 : 1));
    CHECK(count(group, LocalKind::survey) == 0);
    CHECK(count(group, LocalKind::propose) == 7);
    CHECK(group.said[0] == "install decide enter:7 install");
    CHECK(group.said[3] == "install enter:7 install");
    CHECK(group.said[7] == "install");
    CHECK(group.at(3).is_neighbor(rank_at(7)));
    CHECK(group.exceptions_max() == 0);
  }
}

TEST_CASE("a recovered process stands where it stood, under its old identifier (section 3.7)") {
  Group group(15);
  group.kill(4);
  group.suspect(1, 4);
  group.run();
  group.join(4, only(14));
  group.run();
  CHECK(group.agreed_epoch() == 3);
  CHECK(group.exceptions_max() == 0);
  for (int id : {1, 9, 10}) CHECK(group.at(4).is_neighbor(rank_at(id)));
  CHECK_FALSE(group.at(1).is_neighbor(rank_at(9)));
}

TEST_CASE("a recovered process is told of the holes around it") {
  Group group(31);
  for (int victim : {1, 9, 20, 4}) {
    group.kill(victim);
    group.suspect_everywhere(victim);
    group.run();
  }
  group.join(4, only(30));
  group.run();
  CHECK(group.agreed_epoch() == 6);
  // Its parent is gone, its left child, and that one's right child.
  CHECK(group.at(4).exceptions() == 3);
  for (int id : {0, 10, 19}) CHECK(group.at(4).is_neighbor(rank_at(id)));
}

TEST_CASE("who comes back before anybody has noticed takes its own place, in one view change") {
  Group group(15);
  group.kill(9);
  group.join(9, only(2));
  group.run();
  CHECK(count(group, LocalKind::survey) > 0);
  CHECK(group.agreed_epoch() == 2);
  CHECK(group.at(0).view().members == Tally::first(15));
}

TEST_CASE("who joins below all others is the root then, also after many roots") {
  Group group(15);
  for (int victim : {0, 1, 2, 3}) {
    group.kill(victim);
    group.suspect_everywhere(victim);
    group.run();
  }
  group.join(1, only(8));
  group.run();
  CHECK(group.agreed_epoch() == 6);
  CHECK(group.at(14).view().root == rank_at(1));
  group.join(0, only(14));
  group.run();
  group.join(2, only(14));
  group.run();
  group.join(3, only(14));
  group.run();
  CHECK(group.agreed_epoch() == 9);
  CHECK(group.at(14).view().root == rank_at(0));
  CHECK(group.exceptions_max() == 0);
}

TEST_CASE("many may join at once, and leave places free between them") {
  Group group(5);
  for (int id : {5, 9, 7, 8}) group.join(id, only(id % 5));
  group.run();
  CHECK(group.agreed_epoch() >= 2);
  CHECK(group.at(9).view().members.count == 9);
  CHECK(group.at(9).view().limit == 10);
  group.join(6, only(9));
  group.run();
  CHECK(group.agreed_epoch() >= 3);
  CHECK(group.exceptions_max() == 0);
}

TEST_CASE("anybody may die after each step of an admission") {
  for (const bool is_new : {true, false})
    for (int steps = 0; steps < 70; ++steps)
      for (int victim = 0; victim < 15; ++victim) {
        if (victim == 4) continue;
        Group group(15);
        group.kill(4);
        group.suspect(1, 4);
        if (is_new) group.run();
        const int joiner = is_new ? 15 : 4;
        group.join(joiner, {rank_at(7), rank_at(12), rank_at(2)});
        group.run(steps);
        group.kill(victim);
        group.suspect_everywhere(victim);
        group.run();
        CAPTURE(is_new);
        CAPTURE(steps);
        CAPTURE(victim);
        CHECK(group.agreed_epoch() >= 2);
      }
}

TEST_CASE("the joiner may die after each step of its admission, and may come back") {
  for (int steps = 0; steps < 50; ++steps) {
    Group group(15);
    group.join(15, only(12));
    group.run(steps);
    group.kill(15);
    group.suspect_everywhere(15);
    group.run();
    CAPTURE(steps);
    CHECK(group.at(3).view().members == Tally::first(15));
    group.join(15, only(11));
    group.run();
    CHECK(group.agreed_epoch() >= 2);
  }
}

TEST_CASE("who asks who is no member asks the next one, and all again when it is time") {
  Group group(7);
  group.suspect(1, 3, Evidence::silence);
  group.run();
  REQUIRE(group.at(3).standing() == Machine::Standing::excluded);
  group.kill(6);
  group.suspect(2, 6);
  group.run();
  group.join(7, {rank_at(3), rank_at(6)});
  group.run();
  // Neither has let it in; nobody is left whom it may ask before its time.
  CHECK(group.at(7).standing() == Machine::Standing::joining);
  group.join(6, {rank_at(3), rank_at(5)});
  group.run();
  CHECK(group.at(6).is_member());
  for (int i = 0; i < 2; ++i) {
    group.wake(7);
    group.run();
  }
  CHECK(group.at(7).is_member());
  CHECK(group.at(7).view() == group.at(0).view());
}

TEST_CASE("a request that comes again costs a view, and changes no member") {
  Group group(7);
  for (int id : {2, 5}) {
    Machine::Message again;
    again.kind = LocalKind::join;
    again.from = rank_at(6);
    again.to = rank_at(id);
    group.at(id).handle_message({0}, again);
    group.suspect(id, id);  // nothing; what is due goes out
    group.run();
  }
  CHECK(group.agreed_epoch() >= 2);
}

TEST_CASE("an identifier far away from the others is not admitted") {
  Group group(7);
  group.join(60, only(0));
  group.run();
  CHECK(group.at(60).standing() == Machine::Standing::joining);
  CHECK(group.at(0).view().epoch == 1);
  CHECK(group.at(0).view().members == Tally::first(7));
}

TEST_CASE("who has said in an epoch that it is no member is none, whatever arrives later") {
  const LocalView first = LocalView::first(3);
  LocalView second = first;
  second.epoch = 2;
  second.members += Tally::of(rank_at(3));
  second.limit = 4;
  const auto from = [](int id, LocalKind kind, const LocalView& view) {
    Machine::Message message;
    message.from = rank_at(id);
    message.to = rank_at(3);
    message.kind = kind;
    message.view = view;
    return message;
  };
  Machine::Message late = from(1, LocalKind::propose, first);
  late.ballot = {rank_at(0), 1};
  late.next = second;
  late.changes.note(rank_at(3), Change::added);
  for (const bool is_late : {false, true}) {
    Machine joiner = Machine::joiner(local_membership_test::binary, rank_at(3), only(0));
    joiner.start({0});
    if (is_late) {
      // 0 has decided without its answer and is gone; 2 takes it for a member.
      joiner.handle_message({0}, from(2, LocalKind::report, second));
      CHECK(joiner.poll_send()->kind == LocalKind::stranger);
    }
    joiner.handle_message({0}, late);
    joiner.handle_message({0}, from(1, LocalKind::install, second));
    CHECK(joiner.is_member() == !is_late);
  }
}

TEST_CASE("who learns from a question that it is excluded answers that it is no member") {
  Machine machine =
      Machine::founder(local_membership_test::binary, rank_at(2), LocalView::first(3));
  machine.start({0});
  Machine::Message survey;
  survey.from = rank_at(1);
  survey.to = rank_at(2);
  survey.kind = LocalKind::survey;
  survey.ballot = {rank_at(1), 1};
  survey.view = LocalView::first(2);
  survey.view.epoch = 2;
  machine.handle_message({0}, survey);
  CHECK(machine.standing() == Machine::Standing::excluded);
  const auto answer = machine.poll_send();
  REQUIRE(answer);
  CHECK(answer->kind == LocalKind::stranger);
  CHECK(answer->to == rank_at(1));
  CHECK(answer->view.epoch == 2);
}

TEST_CASE("whom a member has fenced is heard again as soon as it is admitted") {
  // 6 comes back. 2 has accepted it, and hears then of the end of the one before.
  Group group(7);
  group.kill(6);
  group.join(6, only(0));
  while (group.at(0).view().epoch == 1) group.run(1);
  CHECK(group.at(2).view().epoch == 1);
  group.suspect(2, 6);
  group.run();
  CHECK(group.agreed_epoch() == 2);
}

TEST_CASE("who comes back and is removed as the one who died is told, and is in again") {
  constexpr MembershipConfig flat{{4}, 100};
  Group group(3, flat);
  group.join(3, only(0));
  group.run(4);
  // 3 is admitted; 1 has accepted that, and hears of nothing more that 0 does.
  group.cut({1});
  group.run();
  CHECK(group.at(2).view().epoch == 2);
  CHECK(group.at(1).view().epoch == 1);
  group.kill(3);
  group.suspect(0, 3);
  group.run(1);
  // 2 has accepted that 3 is removed. Now 0 dies, 3 comes back, and 1 completes what it knows.
  group.kill(0);
  group.cut({});
  group.join(3, only(0));
  group.suspect(1, 0);
  group.run();
  CHECK(group.at(3).view().epoch == 2);
  CHECK(group.at(3).standing() == Machine::Standing::excluded);
  group.join(3, only(2));
  group.run();
  CHECK(group.agreed_epoch() == 4);
}

TEST_CASE("what a process remembers does not grow with their number, whoever comes and goes") {
  std::vector<std::int32_t> most;
  for (const int procs : {64, 1024, 16384}) {
    Group group(procs);
    for (int victim : {5, 11, 2, procs - 1, 0}) {
      group.kill(victim);
      group.suspect_everywhere(victim);
      group.run();
    }
    std::int32_t at_most = group.exceptions_max();
    group.join(procs, only(20));
    for (int id : {0, 2, 11}) {
      group.run(40);
      group.join(id, only(30));
    }
    group.run();
    CHECK(group.agreed_epoch() >= 7);
    at_most = std::max(at_most, group.exceptions_max());
    most.push_back(at_most);
  }
  CHECK(most[0] == most[1]);
  CHECK(most[1] == most[2]);
  CHECK(most[2] <= 4);
}

}  // namespace
}  // namespace resprout::protocols
