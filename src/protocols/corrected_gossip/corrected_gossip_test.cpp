// See corrected_gossip.hpp. Whole broadcasts are in src/sim.
#include "protocols/corrected_gossip/corrected_gossip.hpp"

#include <map>

#include "doctest/doctest.h"
#include "protocols/one_process_test.hpp"

using namespace resprout;
using namespace resprout::protocols;

namespace {

Context at(std::int64_t ticks) { return {{ticks}, {}, {}}; }

Message gossip(int from, int to, std::uint32_t round) {
  return {rank_at(from), rank_at(to), round, MessageKind::tree, Slot::result, 0};
}

constexpr CorrectedGossipConfig by_rounds{
    .procs = 64, .correction = {.kind = Correction::opportunistic, .distance = 1}, .rounds = 4};
constexpr CorrectedGossipConfig by_time{
    .procs = 64, .correction = {.kind = Correction::opportunistic, .distance = 1}, .until = {10}};

}  // namespace

TEST_CASE(
    "by rounds: each message carries one more round, and the last one is followed by correction") {
  CorrectedGossip root(by_rounds, rank_at(0));
  root.start(at(0));
  for (std::uint32_t round = 1; round <= 4; ++round) {
    const auto message = root.poll_send(at(0));
    REQUIRE(message);
    CHECK(message->kind == MessageKind::tree);
    CHECK(message->round == round);
    CHECK(message->slot == Slot::input);
    CHECK(message->to != rank_at(0));
  }
  const auto correction = root.poll_send(at(0));
  REQUIRE(correction);
  CHECK(correction->kind == MessageKind::correction);
  CHECK(correction->to == rank_at(1));
}

TEST_CASE("by rounds: who hears of the last round corrects at once") {
  CorrectedGossip late(by_rounds, rank_at(7));
  late.handle_message(at(0), gossip(3, 7, 4));
  CHECK(late.poll_send(at(0))->kind == MessageKind::correction);
  CorrectedGossip early(by_rounds, rank_at(7));
  early.handle_message(at(0), gossip(3, 7, 2));
  CHECK(early.poll_send(at(0))->round == 3);
  early.handle_message(at(0), gossip(3, 7, 4));
  CHECK(early.poll_send(at(0))->kind == MessageKind::correction);
}

TEST_CASE("by time: gossip until then, correction from then on") {
  CorrectedGossip machine(by_time, rank_at(7));
  machine.handle_message(at(3), gossip(3, 7, 0));
  CHECK(machine.poll_timeout(at(3)).at == Time{10});
  CHECK(machine.poll_send(at(9))->kind == MessageKind::tree);
  CHECK(!machine.poll_send(at(10)));
  machine.handle_timeout(at(10));
  CHECK(machine.poll_send(at(10))->kind == MessageKind::correction);
}

TEST_CASE("who is reached by gossip after its end corrects, or with late=end only receives") {
  CorrectedGossipConfig config = by_time;
  CorrectedGossip corrects(config, rank_at(7));
  corrects.handle_message(at(11), gossip(3, 7, 0));
  CHECK(corrects.poll_send(at(11))->kind == MessageKind::correction);
  config.late = Late::end;
  CorrectedGossip ends(config, rank_at(7));
  ends.handle_message(at(11), gossip(3, 7, 0));
  CHECK(ends.is_colored());
  CHECK(!ends.poll_send(at(11)));
  CHECK(ends.poll_timeout(at(11)).at == never);
  CorrectedGossip in_time(config, rank_at(7));
  in_time.handle_message(at(10), gossip(3, 7, 0));
  CHECK(in_time.poll_send(at(10))->kind == MessageKind::correction);
}

TEST_CASE("the events speak of the very message; who is colored by a correction only receives") {
  CorrectedGossip machine(by_rounds, rank_at(7));
  const Message first{rank_at(8), rank_at(7), 0, MessageKind::correction, Slot::result, 0};
  machine.handle_message(at(0), first);
  const auto colored = machine.poll_event(at(0));
  REQUIRE(colored);
  CHECK(colored->kind == EventKind::colored);
  CHECK(colored->subject == first);
  CHECK(machine.poll_event(at(0))->kind == EventKind::deliver);
  machine.handle_message(at(0), gossip(3, 7, 1));
  CHECK(!machine.poll_event(at(0)));
  CHECK(!machine.poll_send(at(0)));
  CorrectedGossip other(by_rounds, rank_at(7));
  other.handle_message(at(0), gossip(3, 7, 2));
  CHECK(other.poll_event(at(0))->subject == gossip(3, 7, 2));
}

TEST_CASE("all others are sent to, about equally often, and another seed is another order") {
  CorrectedGossipConfig config{.procs = 5, .rounds = 40001};
  std::map<int, int> count;
  CorrectedGossip root(config, rank_at(2));
  root.handle_message(at(0), gossip(0, 2, 1));
  std::vector<int> order;
  for (int i = 0; i < 40000; ++i) {
    const int to = index(root.poll_send(at(0))->to);
    ++count[to];
    if (i < 30) order.push_back(to);
  }
  CHECK(count.size() == 4);
  for (const auto& [to, times] : count) {
    CHECK(times > 9600);
    CHECK(times < 10400);
  }
  config.seed = 2;
  CorrectedGossip again(config, rank_at(2));
  again.handle_message(at(0), gossip(0, 2, 1));
  std::vector<int> other;
  for (int i = 0; i < 30; ++i) other.push_back(index(again.poll_send(at(0))->to));
  CHECK(order != other);
}

TEST_CASE("alone, the root delivers and sends nothing") {
  const CorrectedGossipConfig config{.procs = 1, .rounds = 3};
  testing::OneProcess<CorrectedGossip> root(config, 0);
  CHECK(root.said() == "deliver:0");
}
