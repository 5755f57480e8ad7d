// The events of sections 3.2 to 3.7, one after the other, among a few processes whose messages
// arrive in the order in which they were sent.
#include "protocols/membership/membership.hpp"

#include <deque>
#include <set>
#include <string>
#include <vector>

#include "doctest/doctest.h"

namespace resprout::protocols {
namespace {

using Machine = SmallMembership;
using Ids = Machine::Ids;

const MembershipConfig binary{{2}, 100};

std::string text_of(const Ids& ids) {
  std::string text;
  ids.for_each([&](Rank id) { text += (text.empty() ? "" : " ") + std::to_string(index(id)); });
  return text;
}

class Group {
 public:
  explicit Group(int founders, const MembershipConfig& config = binary) : config_(&config) {
    for (int id = 0; id < founders; ++id)
      add(Machine::founder(config, rank_at(id), Ids::first(founders)));
  }

  // Processes 0, 1, ... know each other; `id` is the next one, or one that was before.
  void join(int id, const Ids& contacts) {
    if (id == static_cast<int>(machines_.size())) {
      add(Machine::joiner(*config_, rank_at(id), contacts));
      return;
    }
    dead_.erase(id);
    at(id) = Machine::joiner(*config_, rank_at(id), contacts);
    at(id).start({0});
    drain(id);
  }
  void kill(int id) {
    dead_.insert(id);
    std::erase_if(wire_, [id](const auto& message) { return index(message.to) == id; });
  }
  void suspect(int id, int suspected, Evidence evidence = Evidence::death) {
    at(id).handle_suspicion({0}, rank_at(suspected), evidence);
    drain(id);
  }
  // Delivers up to `count` messages. Who sends to a dead one finds that out.
  void run(int count = 100000) {
    for (; count > 0 && !wire_.empty(); --count) {
      const Machine::Message message = wire_.front();
      wire_.pop_front();
      at(index(message.to)).handle_message({0}, message);
      drain(index(message.to));
    }
  }
  void wake(int id) {
    const Time time = at(id).poll_timeout().at;
    if (time == never) return;
    at(id).handle_timeout(time);
    drain(id);
  }
  Machine& at(int id) { return machines_[static_cast<std::size_t>(id)]; }
  bool is_cut(int a, int b) const { return side_.contains(a) != side_.contains(b); }
  void cut(std::set<int> side) { side_ = std::move(side); }

  // "epoch: members" of all who live, if they agree.
  std::string view() {
    std::string common;
    for (int id = 0; id < static_cast<int>(machines_.size()); ++id) {
      if (dead_.contains(id)) continue;
      const std::string own =
          std::to_string(at(id).view().epoch) + ": " + text_of(at(id).view().members);
      if (!common.empty() && common != own) return "no agreement";
      common = own;
    }
    return common;
  }

  std::vector<std::string> said;                // by each process
  std::vector<int> sent = std::vector<int>(8);  // by kind

 private:
  void add(Machine machine) {
    machines_.push_back(machine);
    said.emplace_back();
    const int id = static_cast<int>(machines_.size()) - 1;
    at(id).start({0});
    drain(id);
  }
  void drain(int id) {
    static constexpr const char* names[] = {"detect", "decide", "install", "exclude", "isolate"};
    auto& words = said[static_cast<std::size_t>(id)];
    while (const auto event = at(id).poll_event()) {
      words += (words.empty() ? "" : " ") + std::string(names[static_cast<int>(event->kind)]);
      if (event->kind == MembershipEventKind::detect)
        words += ":" + std::to_string(index(event->about));
    }
    while (const auto message = at(id).poll_send()) {
      ++sent[static_cast<std::size_t>(message->kind)];
      const int to = index(message->to);
      if (is_cut(id, to)) continue;
      if (dead_.contains(to))
        suspect(id, to);
      else
        wire_.push_back(*message);
    }
  }

  const MembershipConfig* config_;
  std::vector<Machine> machines_;
  std::deque<Machine::Message> wire_;
  std::set<int> dead_;
  std::set<int> side_;
};

int count(const Group& group, MembershipKind kind) {
  return group.sent[static_cast<std::size_t>(kind)];
}

TEST_CASE("everybody knows the first view without a message (section 3.2)") {
  Group group(7);
  CHECK(group.view() == "1: 0 1 2 3 4 5 6");
  CHECK(group.said[5] == "install");
  for (int sent : group.sent) CHECK(sent == 0);
  CHECK(text_of(group.at(1).neighbors()) == "0 3 4");
}

TEST_CASE("a failure is reported to the root, acknowledged, and told down the tree (section 3.4)") {
  Group group(15);
  group.kill(4);
  group.suspect(11, 4);
  group.run();
  CHECK(group.view() == "2: 0 1 2 3 5 6 7 8 9 10 11 12 13 14");
  CHECK(count(group, MembershipKind::report) == 1);
  CHECK(count(group, MembershipKind::report_ack) == 1);
  CHECK(count(group, MembershipKind::propose) == 13);
  CHECK(count(group, MembershipKind::acceptance) == 13);
  CHECK(count(group, MembershipKind::install) == 13);
  CHECK(group.said[11] == "install detect:4 install");
  CHECK(group.said[0] == "install decide install");
  CHECK(text_of(group.at(1).neighbors()) == "0 3 9 10");
}

TEST_CASE("several who detect the same failure are all acknowledged, and there is one view") {
  Group group(15);
  group.kill(4);
  for (int detector : {1, 9, 10}) group.suspect(detector, 4);
  group.run();
  CHECK(group.view() == "2: 0 1 2 3 5 6 7 8 9 10 11 12 13 14");
  CHECK(count(group, MembershipKind::report) == 3);
  CHECK(count(group, MembershipKind::report_ack) == 3);
}

TEST_CASE("failures that are found while a view is on its way are added to it (section 3.5)") {
  Group group(15);
  for (int victim : {4, 5, 12}) group.kill(victim);
  group.suspect(11, 4);
  group.run();
  // 5 and 12 are found by who sends them the proposal.
  CHECK(group.view() == "2: 0 1 2 3 6 7 8 9 10 11 13 14");
}

TEST_CASE("a process that dies after each step of a stabilization is excluded all the same") {
  for (int steps = 0; steps < 60; ++steps)
    for (int victim = 0; victim < 7; ++victim) {
      if (victim == 4) continue;
      Group group(7);
      group.kill(4);
      group.suspect(1, 4);
      group.run(steps);
      group.kill(victim);
      for (int id = 0; id < 7; ++id)
        if (id != 4 && id != victim) group.suspect(id, victim), group.suspect(id, 4);
      group.run();
      CAPTURE(steps);
      CAPTURE(victim);
      std::string members;
      for (int id = 0; id < 7; ++id)
        if (id != 4 && id != victim) members += " " + std::to_string(id);
      CHECK(group.view().substr(group.view().find(' ')) == members);
    }
}

TEST_CASE("after the root's failure the next one in the list is root (section 3.6)") {
  Group group(7);
  group.kill(0);
  group.suspect(2, 0);
  group.run();
  CHECK(group.view() == "2: 1 2 3 4 5 6");
  CHECK(group.said[1] == "install decide install");
}

TEST_CASE("the root and others may fail together: a scan finds the new root") {
  Group group(15);
  for (int victim : {0, 1, 2, 6}) group.kill(victim);
  group.suspect(4, 1);
  group.run();
  CHECK(group.view() == "2: 3 4 5 7 8 9 10 11 12 13 14");
  CHECK(count(group, MembershipKind::report_ack) == 1);
}

TEST_CASE("all but one may die, if it is sure of that") {
  Group group(7);
  for (int victim = 0; victim < 6; ++victim) {
    group.kill(victim);
    group.suspect(6, victim);
  }
  group.run();
  CHECK(group.view() == "2: 6");
}

TEST_CASE("a new process is admitted as a leaf and is welcome (section 3.7)") {
  Group group(7);
  group.join(7, Ids::only(rank_at(0)));
  group.run();
  CHECK(group.view() == "2: 0 1 2 3 4 5 6 7");
  CHECK(group.said[7] == "install");
  CHECK(text_of(group.at(3).neighbors()) == "1 7");
}

TEST_CASE("a joiner that asks another process is sent to the root; dead ones are scanned past") {
  Group group(7);
  for (int victim : {0, 1}) group.kill(victim);
  group.join(7, Ids::first(7));
  group.run();
  CHECK(count(group, MembershipKind::join) == 3);
  group.suspect(2, 0);
  group.run();
  CHECK(group.view() == "3: 2 3 4 5 6 7");

  Group other(7);
  other.join(7, Ids::only(rank_at(5)));
  other.run();
  CHECK(count(other, MembershipKind::redirect) == 1);
  CHECK(other.view() == "2: 0 1 2 3 4 5 6 7");
}

TEST_CASE("a recovered process joins under its old identifier, also as the root (section 3.7)") {
  Group group(7);
  group.kill(0);
  group.suspect(1, 0);
  group.run();
  group.join(0, Ids::first(7) - Ids::only(rank_at(0)));
  group.run();
  CHECK(group.view() == "3: 0 1 2 3 4 5 6");
  CHECK(group.at(3).view().root() == rank_at(0));
}

TEST_CASE("a joiner that is not answered asks again, and the next one") {
  Group group(3);
  group.cut({0});
  group.join(3, Ids::first(3));
  group.run();
  CHECK(group.at(3).poll_timeout().at == Time{100});
  group.wake(3);
  group.run();
  // The next one names 0 again.
  CHECK(count(group, MembershipKind::join) == 3);
  group.cut({});
  group.wake(3);
  group.run();
  CHECK(group.view() == "2: 0 1 2 3");
}

TEST_CASE("who is wrongly suspected is fenced, told, and may join again") {
  Group group(7);
  group.suspect(1, 3, Evidence::silence);
  group.run();
  CHECK(group.at(3).standing() == Machine::Standing::excluded);
  CHECK(group.said[3] == "install exclude");
  CHECK_FALSE(group.at(1).may_receive(rank_at(3), 2));
  group.join(3, Ids::only(rank_at(0)));
  group.run();
  CHECK(group.view() == "3: 0 1 2 3 4 5 6");
}

TEST_CASE("of two sides of a cut only the majority goes on; after it the other is told") {
  Group group(7);
  group.cut({0, 1, 2});
  for (int id = 0; id < 7; ++id)
    for (int other = 0; other < 7; ++other)
      if (group.is_cut(id, other)) group.suspect(id, other, Evidence::silence);
  group.run();
  for (int id : {0, 1, 2}) {
    CHECK(group.at(id).is_isolated());
    CHECK(group.at(id).view().epoch == 1);
  }
  for (int id : {3, 4, 5, 6}) CHECK(text_of(group.at(id).view().members) == "3 4 5 6");
  group.cut({});
  for (int id : {0, 1, 2}) {
    group.wake(id);
    group.run();
    CHECK(group.at(id).standing() == Machine::Standing::excluded);
    group.join(id, Ids::only(rank_at(6)));
    group.run();
  }
  CHECK(group.view() == "5: 0 1 2 3 4 5 6");
}

TEST_CASE("an isolated process that the others still hear is excluded by its probe") {
  Group group(5);
  group.cut({0});
  for (int other : {1, 2, 3, 4}) group.suspect(0, other, Evidence::silence);
  CHECK(group.said[0] == "install detect:1 detect:2 detect:3 isolate detect:4");
  group.cut({});
  group.wake(0);
  group.run();
  CHECK(group.at(0).standing() == Machine::Standing::excluded);
  CHECK(text_of(group.at(4).view().members) == "1 2 3 4");
}

TEST_CASE("messages of another view, or of a fenced process, may not be received") {
  Group group(3);
  CHECK(group.at(1).may_receive(rank_at(2), 1));
  CHECK_FALSE(group.at(1).may_receive(rank_at(2), 2));
  group.suspect(1, 2);
  CHECK_FALSE(group.at(1).may_receive(rank_at(2), 1));
  CHECK_FALSE(group.at(1).may_receive(rank_at(7), 1));
}

TEST_CASE("a coordinator that takes over completes what it has accepted") {
  // 0 decides on 1 2 3 and the joiner, tells 0 alone, and is then suspected by 1.
  Group group(4, binary);
  group.join(4, Ids::only(rank_at(0)));
  while (group.at(0).view().epoch == 1) group.run(1);
  CHECK(group.at(1).view().epoch == 1);
  group.suspect(1, 0, Evidence::silence);
  group.run();
  CHECK(text_of(group.at(1).view().members) == "1 2 3 4");
  CHECK(group.at(1).view().epoch == 3);
  CHECK(group.at(2).view() == group.at(1).view());
}

TEST_CASE("every radix keeps the same promises") {
  for (int radix : {2, 4, 8, 16}) {
    const MembershipConfig config{{radix}, 100};
    Group group(40, config);
    for (int victim : {0, 3, 17, 39}) group.kill(victim);
    group.suspect(20, 0);
    group.suspect(8, 3);
    group.suspect(9, 17);
    group.run();
    group.suspect(18, 39);
    group.run();
    CHECK(group.at(20).view().members.count() == 36);
    CHECK(group.view() != "no agreement");
  }
}

TEST_CASE("spurious calls change nothing") {
  Group group(3);
  group.suspect(1, 1);
  group.suspect(1, 9);
  group.wake(1);
  group.at(1).handle_message({0}, {});
  group.run();
  CHECK(group.view() == "1: 0 1 2");
  CHECK_FALSE(group.at(1).poll_send());
  CHECK_FALSE(group.at(1).poll_event());
}

}  // namespace
}  // namespace resprout::protocols
