// See corrected_tree.hpp. Here single machines are driven by hand; whole broadcasts are in
// src/sim/logp.
#include "protocols/corrected_tree/corrected_tree.hpp"

#include <cstring>
#include <vector>

#include "doctest/doctest.h"

using namespace resprout;
using namespace resprout::protocols;
using topology::Numbering;
using topology::Shape;
using topology::Tree;

namespace {

CorrectedTreeConfig binomial(std::int32_t procs, Correction correction = Correction::checked) {
  return {.tree = Tree(Shape::binomial, Numbering::interleaved, 2, procs),
          .procs = procs,
          .correction = {.kind = correction}};
}

Context at(std::int64_t ticks) { return {{ticks}, {}, {}}; }

Message tree_message(int from, int to) {
  return {rank_at(from), rank_at(to), 0, MessageKind::tree, Slot::result, 0};
}

// A correction that comes from the left goes right, and the other way round.
enum Side : std::uint16_t { from_right = 0, from_left = 1 };
Message correction(int from, int to, Side side) {
  return {rank_at(from), rank_at(to), 0, MessageKind::correction, Slot::result, side};
}

// Who is sent to next, until there is nothing more to send; at most `limit`.
std::vector<int> receivers(CorrectedTree& machine, std::size_t limit = 1000, std::int64_t now = 0) {
  std::vector<int> all;
  while (all.size() < limit) {
    const auto message = machine.poll_send(at(now));
    if (!message) break;
    all.push_back(index(message->to));
  }
  return all;
}

std::vector<EventKind> events(CorrectedTree& machine) {
  std::vector<EventKind> all;
  while (const auto event = machine.poll_event(at(0))) all.push_back(event->kind);
  return all;
}

}  // namespace

TEST_CASE("the root delivers its own input and sends to its children, the largest subtree first") {
  const auto config = binomial(8, Correction::none);
  CorrectedTree root(config, rank_at(0));
  root.start(at(0));
  const auto event = root.poll_event(at(0));
  REQUIRE(event);
  CHECK(event->kind == EventKind::deliver);
  CHECK(event->subject.from == rank_at(0));
  CHECK(!root.poll_event(at(0)));
  const auto message = root.poll_send(at(0));
  REQUIRE(message);
  CHECK(message->slot == Slot::input);
  CHECK(message->kind == MessageKind::tree);
  CHECK(receivers(root) == std::vector{2, 4});
}

TEST_CASE("another root: ranks are shifted") {
  auto config = binomial(8, Correction::none);
  config.root = rank_at(5);
  CorrectedTree root(config, rank_at(5));
  root.start(at(0));
  CHECK(receivers(root) == std::vector{6, 7, 1});
  CorrectedTree other(config, rank_at(6));
  other.start(at(0));
  CHECK(!other.is_colored());
  other.handle_message(at(0), tree_message(5, 6));
  CHECK(receivers(other) == std::vector{0, 2});
}

TEST_CASE("the first message colors and delivers, and the events speak of that very message") {
  const auto config = binomial(8);
  for (const Message& first :
       {tree_message(0, 4), correction(5, 4, from_right), correction(2, 4, from_left)}) {
    CorrectedTree machine(config, rank_at(4));
    CHECK(machine.handle_message(at(0), first) == Disposition::done);
    const auto colored = machine.poll_event(at(0));
    REQUIRE(colored);
    CHECK(colored->kind == EventKind::colored);
    CHECK(colored->subject == first);
    const auto delivered = machine.poll_event(at(0));
    REQUIRE(delivered);
    CHECK(delivered->kind == EventKind::deliver);
    CHECK(delivered->subject == first);
    machine.handle_message(at(0), tree_message(0, 4));
    machine.handle_message(at(0), correction(3, 4, from_left));
    CHECK(events(machine).empty());
  }
}

TEST_CASE(
    "section 3.1's process 23, which hears from 19 and 28, sends to 22 24 21 25 20 26 19 27 28") {
  auto config = binomial(64);
  CorrectedTree machine(config, rank_at(23));
  machine.handle_message(at(0), tree_message(7, 23));
  CHECK(receivers(machine, 1) == std::vector{55});
  machine.handle_message(at(0), correction(19, 23, from_left));
  machine.handle_message(at(0), correction(28, 23, from_right));
  CHECK(receivers(machine) == std::vector{22, 24, 21, 25, 20, 26, 19, 27, 28});
}

TEST_CASE("checked: the nearest sender heard counts, on each side") {
  const auto config = binomial(64);
  CorrectedTree machine(config, rank_at(40));
  machine.handle_message(at(0), tree_message(8, 40));
  machine.handle_message(at(0), correction(37, 40, from_left));
  machine.handle_message(at(0), correction(39, 40, from_left));
  machine.handle_message(at(0), correction(43, 40, from_right));
  CHECK(receivers(machine) == std::vector{39, 41, 42, 43});
}

TEST_CASE("checked: it ends when left and right cover the ring, nobody heard") {
  for (const std::int32_t procs : {1, 2, 3, 4, 7, 8}) {
    const auto config = binomial(procs);
    CorrectedTree machine(config, rank_at(procs - 1));
    machine.start(at(0));
    if (procs > 1) machine.handle_message(at(0), tree_message(0, procs - 1));
    const auto to = receivers(machine);
    CHECK(to.size() == static_cast<std::size_t>(procs - 1));
    CHECK(std::vector<bool>(to.size(), true) == [&] {
      std::vector<bool> seen(to.size(), false);
      for (const int rank : to) seen[static_cast<std::size_t>(rank)] = true;
      return seen;
    }());
  }
}

TEST_CASE("opportunistic: first right, then in turns, the distance to each side") {
  auto config = binomial(64, Correction::opportunistic);
  config.correction.distance = 2;
  CorrectedTree machine(config, rank_at(63));
  machine.handle_message(at(0), tree_message(31, 63));
  machine.handle_message(at(0), correction(62, 63, from_left));
  CHECK(receivers(machine) == std::vector{0, 62, 1, 61});
}

TEST_CASE("section 3.3's process 19, which hears from 23 with distance 8, sends to 14 13 12 11") {
  auto config = binomial(32, Correction::optimized_opportunistic);
  config.correction.distance = 8;
  CorrectedTree machine(config, rank_at(19));
  machine.handle_message(at(0), tree_message(3, 19));
  machine.handle_message(at(0), correction(23, 19, from_right));
  CHECK(receivers(machine) == std::vector{14, 13, 12, 11});
}

TEST_CASE("synchronized: correction waits for its time, and who it colors only receives") {
  auto config = binomial(64);
  config.start = StartMode::synchronized;
  config.correction_start = {10};
  CorrectedTree by_tree(config, rank_at(3));
  CHECK(by_tree.poll_timeout(at(0)).at == never);
  by_tree.handle_message(at(4), tree_message(1, 3));
  CHECK(by_tree.poll_timeout(at(4)).at == Time{10});
  CHECK(receivers(by_tree, 100, 9) == std::vector{7, 11, 19, 35});
  by_tree.handle_timeout(at(9));  // spurious
  CHECK(receivers(by_tree, 100, 9).empty());
  by_tree.handle_timeout(at(10));
  CHECK(receivers(by_tree, 2, 10) == std::vector{2, 4});
  CHECK(by_tree.poll_timeout(at(10)).at == never);

  CorrectedTree by_correction(config, rank_at(3));
  by_correction.handle_message(at(13), correction(4, 3, from_right));
  CHECK(by_correction.is_colored());
  CHECK(receivers(by_correction, 100, 20).empty());
}

TEST_CASE("overlapped: an early process sends its tree messages, then joins or abstains") {
  auto config = binomial(16);
  CorrectedTree joins(config, rank_at(3));
  joins.handle_message(at(0), correction(4, 3, from_right));
  CHECK(receivers(joins, 4) == std::vector{7, 11, 2, 4});
  config.early = EarlyPolicy::abstain;
  CorrectedTree abstains(config, rank_at(3));
  abstains.handle_message(at(0), correction(4, 3, from_right));
  CHECK(receivers(abstains) == std::vector{7, 11});
}

TEST_CASE("frozen, it says and sends nothing more, and still knows whether it was colored") {
  const auto config = binomial(16);
  CorrectedTree colored(config, rank_at(1));
  colored.handle_message(at(0), tree_message(0, 1));
  colored.freeze();
  CHECK(colored.is_colored());
  CHECK(events(colored).empty());
  CHECK(receivers(colored).empty());
  CorrectedTree uncolored(config, rank_at(1));
  uncolored.freeze();
  uncolored.handle_message(at(0), tree_message(0, 1));
  CHECK(!uncolored.is_colored());
  CHECK(events(uncolored).empty());
}

TEST_CASE("a poll that finds nothing changes nothing") {
  auto config = binomial(16);
  config.start = StartMode::synchronized;
  config.correction_start = {100};
  CorrectedTree machine(config, rank_at(15));
  machine.handle_message(at(0), tree_message(7, 15));
  events(machine);
  const CorrectedTree before = machine;
  CHECK(!machine.poll_send(at(99)));
  CHECK(!machine.poll_event(at(99)));
  CHECK(std::memcmp(&before, &machine, sizeof machine) == 0);
}
