// Decisions as a program asks for them, one call after the other. Random interleavings are in
// decisions_random_test.cpp.
#include "runtime/replicas/decisions.hpp"

#include <string>

#include "doctest/doctest.h"
#include "runtime/replicas/decisions_test.hpp"

using namespace resprout;
using namespace resprout::runtime;
using testing::DecidingReplicas;
using enum Decisions::Pace;

namespace {

using Bytes = Decisions::Bytes;

constexpr std::uint32_t clock_call = 1;
constexpr std::uint32_t test_call = 2;

Bytes bytes(int value) { return {static_cast<std::byte>(value), std::byte{9}}; }
Bytes nobody_asks() { throw std::logic_error("was asked"); }

// What one replica gets if it would find out `own` itself.
Bytes decide(DecidingReplicas& replicas, int plane, int own) {
  return replicas[plane].decide(
      clock_call, at_once, [&] { return bytes(own); }, replicas.delivering());
}
Bytes follow(DecidingReplicas& replicas, int plane, std::uint32_t kind = clock_call) {
  return replicas[plane].decide(kind, at_once, nobody_asks, replicas.delivering());
}
std::optional<Bytes> poll(DecidingReplicas& replicas, int plane, std::optional<int> own) {
  return replicas[plane].poll(
      test_call, [&] { return own ? std::optional(bytes(*own)) : std::nullopt; },
      replicas.delivering());
}
std::string why_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const DecisionError& error) {
    return (error.why() == DecisionError::Why::diverged ? "diverged: " : "deposed: ") +
           std::string(error.what());
  }
  return "";
}

}  // namespace

TEST_CASE("decisions: the lowest plane finds out, the others get the same in the same order") {
  for (const std::int32_t planes : {2, 3}) {
    DecidingReplicas replicas({.planes = planes});
    for (int value = 0; value < 5; ++value) CHECK(decide(replicas, 0, value) == bytes(value));
    for (int plane = 1; plane < planes; ++plane)
      for (int value = 0; value < 5; ++value) CHECK(follow(replicas, plane) == bytes(value));
    for (int plane = 0; plane < planes; ++plane) {
      replicas[plane].finish(replicas.delivering());
      CHECK(replicas[plane].kept() == 0);
    }
  }
}

TEST_CASE("decisions: polls that say no cost no frame each, and followers count the same") {
  DecidingReplicas replicas({});
  const std::size_t before = replicas.frames_sent();
  for (int i = 0; i < 1000; ++i) CHECK_FALSE(poll(replicas, 0, std::nullopt));
  CHECK(replicas.frames_sent() == before);
  CHECK(poll(replicas, 0, 7) == bytes(7));
  CHECK(replicas.frames_sent() == before + 1);
  for (int i = 0; i < 1000; ++i) CHECK_FALSE(poll(replicas, 1, 3));
  CHECK(poll(replicas, 1, 3) == bytes(7));
}

TEST_CASE("decisions: what was counted is said before settling, and when the leader may block") {
  DecidingReplicas replicas({});
  CHECK_FALSE(poll(replicas, 0, std::nullopt));
  replicas[0].settle(replicas.delivering());
  CHECK_FALSE(poll(replicas, 1, 3));
  CHECK_FALSE(poll(replicas, 0, std::nullopt));
  replicas[0].flush();
  CHECK_FALSE(poll(replicas, 1, 3));
  CHECK_FALSE(poll(replicas, 0, std::nullopt));
  const auto other_gets_on_first = [&] {
    CHECK_FALSE(poll(replicas, 1, 3));
    return bytes(1);
  };
  CHECK(replicas[0].decide(clock_call, blocks, other_gets_on_first, replicas.delivering()) ==
        bytes(1));
  CHECK(follow(replicas, 1) == bytes(1));
}

TEST_CASE("decisions: refusals are said one by one where the leader may not be quiet") {
  DecidingReplicas replicas({.quiet_ns = 0});
  for (int i = 0; i < 10; ++i) {
    CHECK_FALSE(poll(replicas, 0, std::nullopt));
    CHECK_FALSE(poll(replicas, 1, 3));
  }
}

TEST_CASE("decisions: settling waits until all the others have what was decided") {
  DecidingReplicas replicas({.planes = 3});
  decide(replicas, 0, 1);
  int looks = 0;
  replicas[0].settle([&] {
    ++looks;
    const auto pairs = replicas.pending();
    REQUIRE_FALSE(pairs.empty());
    replicas.deliver(pairs[0].first, pairs[0].second);
  });
  CHECK(looks >= 4);  // two decisions, two acknowledgments
}

TEST_CASE(
    "decisions: a replica that waits for the leader becomes it when that one's plane is lost") {
  DecidingReplicas replicas({});
  decide(replicas, 0, 1);
  replicas.deliver_all();
  decide(replicas, 0, 2);  // never heard of
  CHECK(follow(replicas, 1) == bytes(1));
  bool is_lost = false;
  const Bytes own = replicas[1].decide(
      clock_call, at_once, [] { return bytes(5); },
      [&] {
        if (!is_lost) replicas.lose(0);
        is_lost = true;
      });
  CHECK(own == bytes(5));
  CHECK(replicas[1].is_leading());
  replicas[1].finish([] {});
}

TEST_CASE("decisions: of three, what the last one has heard of the dead is decided") {
  DecidingReplicas replicas({.planes = 3});
  decide(replicas, 0, 1);
  replicas.deliver(0, 2);
  replicas.lose(0);
  CHECK(follow(replicas, 1) == bytes(1));
  CHECK(decide(replicas, 1, 2) == bytes(2));
  CHECK(follow(replicas, 2) == bytes(1));
  CHECK(follow(replicas, 2) == bytes(2));
  replicas[2].settle(replicas.delivering());
}

TEST_CASE("decisions: what only the dead knew is found out anew, polls from the first one on") {
  DecidingReplicas replicas({});
  CHECK_FALSE(poll(replicas, 0, std::nullopt));
  CHECK(poll(replicas, 0, 7) == bytes(7));
  replicas.lose(0);
  CHECK(poll(replicas, 1, 3) == bytes(3));
}

TEST_CASE("decisions: half of what was followed is followed to its end after the leader's death") {
  DecidingReplicas replicas({});
  for (int i = 0; i < 3; ++i) CHECK_FALSE(poll(replicas, 0, std::nullopt));
  CHECK(poll(replicas, 0, 7) == bytes(7));
  replicas.deliver_all();
  CHECK_FALSE(poll(replicas, 1, 3));
  replicas.lose(0);
  CHECK_FALSE(poll(replicas, 1, 3));
  CHECK_FALSE(poll(replicas, 1, 3));
  CHECK(poll(replicas, 1, 3) == bytes(7));
  CHECK(poll(replicas, 1, 4) == bytes(4));
}

TEST_CASE(
    "decisions: the leader keeps no more than its window, and waits for who is so far behind") {
  DecidingReplicas replicas({.planes = 3, .window = 4});
  for (int value = 0; value < 4; ++value) decide(replicas, 0, value);
  int waited = 0;
  replicas[0].decide(
      clock_call, at_once, [] { return bytes(4); },
      [&] {
        replicas.deliver_all();
        ++waited;
        for (int plane = 1; plane < 3 && waited == 2; ++plane)
          for (int value = 0; value < 4; ++value) CHECK(follow(replicas, plane) == bytes(value));
      });
  CHECK(waited >= 2);
  CHECK(replicas[0].kept() <= 4);
}

TEST_CASE("decisions: where finding out fails nothing is decided") {
  DecidingReplicas replicas({});
  CHECK_THROWS_AS(follow(replicas, 0), std::logic_error);
  CHECK(decide(replicas, 0, 3) == bytes(3));
  CHECK(follow(replicas, 1) == bytes(3));
}

// --- what must not be
// -----------------------------------------------------------------------------

TEST_CASE("decisions: a replica whose program asks for something else is told so") {
  DecidingReplicas replicas({});
  decide(replicas, 0, 1);
  CHECK(why_of([&] { follow(replicas, 1, test_call); }) ==
        "diverged: the replicas of rank 5 have diverged: in plane 1 a call of kind 2, "
        "in plane 0 a call of kind 1");
}

TEST_CASE("decisions: so is who calls what cannot say no where the leader was told no") {
  DecidingReplicas replicas({});
  CHECK_FALSE(poll(replicas, 0, std::nullopt));
  replicas[0].flush();
  CHECK(why_of([&] { follow(replicas, 1); }) ==
        "diverged: the replicas of rank 5 have diverged: in plane 1 a call of kind 1, "
        "in plane 0 a call that has said no");
}

TEST_CASE("decisions: so is whose program ends earlier or later than the leader's") {
  DecidingReplicas early({});
  decide(early, 0, 1);
  early.deliver_all();
  CHECK(why_of([&] { early[1].finish(early.delivering()); }) ==
        "diverged: the replicas of rank 5 have diverged: in plane 1 the program ends, "
        "in plane 0 it goes on");
  DecidingReplicas late({});
  late[0].finish(late.delivering());
  CHECK(why_of([&] { follow(late, 1); }) ==
        "diverged: the replicas of rank 5 have diverged: in plane 1 the program goes on, "
        "in plane 0 it has ended");
}

TEST_CASE("decisions: a leader whom others have given up learns it and settles nothing") {
  DecidingReplicas replicas({.planes = 3});
  decide(replicas, 0, 1);
  replicas[1].lose_plane(0);
  CHECK(why_of([&] { replicas[0].settle(replicas.delivering()); }) ==
        "deposed: the other planes have given up plane 0: rank 5 of it could not be reached");
  CHECK(why_of([&] { decide(replicas, 0, 2); }).starts_with("deposed"));
}

TEST_CASE("decisions: frames that cannot be from there are passed over") {
  DecidingReplicas replicas({});
  const DecisionFrame good{{.from = rank_at(0),
                            .to = rank_at(1),
                            .kind = protocols::DecisionKind::decisions,
                            .first = 1,
                            .count = 1,
                            .length = 1},
                           {{.refusals = 0, .has_answer = true, .kind = 1, .answer = bytes(1)}}};
  const Bytes whole = bytes_of(good);
  REQUIRE(read_decision_frame(whole, 2));
  const Replica sibling{0, testing::rank_of_replicas};
  for (std::size_t size = 0; size < whole.size(); ++size)
    replicas[1].handle(sibling, std::span(whole).first(size));
  Bytes longer = whole;
  longer.push_back(std::byte{0});
  replicas[1].handle(sibling, longer);
  replicas[1].handle({0, 4}, whole);  // of another rank
  replicas[1].handle({1, 5}, whole);  // under another name
  DecisionFrame wrong = good;
  wrong.message.count = UINT64_MAX;
  replicas[1].handle(sibling, bytes_of(wrong));
  CHECK(replicas[1].kept() == 0);
  replicas[1].handle(sibling, whole);
  CHECK(replicas[1].kept() == 1);
  CHECK(follow(replicas, 1) == bytes(1));
}

TEST_CASE("decisions: who goes back gets again what it got, and nobody hears of it") {
  for (const int who : {0, 1}) {
    CAPTURE(who);
    DecidingReplicas replicas({.planes = 2});
    decide(replicas, 0, 1);
    follow(replicas, 1);
    for (int plane = 0; plane < 2; ++plane) {
      replicas[plane].settle(replicas.delivering());
      replicas[plane].restart_record();
    }
    poll(replicas, 0, std::nullopt);
    poll(replicas, 0, 2);
    decide(replicas, 0, 3);
    poll(replicas, 1, std::nullopt);
    poll(replicas, 1, std::nullopt);
    follow(replicas, 1);
    for (int plane = 0; plane < 2; ++plane) replicas[plane].settle(replicas.delivering());
    const std::size_t sent = replicas.frames_sent();
    for (int round = 0; round < 2; ++round) {
      replicas[who].repeat();
      CHECK_FALSE(poll(replicas, who, 8));
      CHECK(poll(replicas, who, 8) == bytes(2));
      CHECK(follow(replicas, who) == bytes(3));
      replicas[who].settle([] { FAIL("there is nothing to wait for"); });
      replicas[who].stop_repeating();
    }
    CHECK(replicas.frames_sent() == sent);
    CHECK(decide(replicas, 0, 4) == bytes(4));
    CHECK(follow(replicas, 1) == bytes(4));
  }
}

TEST_CASE("decisions: who asks for something else than it did has diverged") {
  DecidingReplicas replicas({.planes = 2});
  replicas[0].restart_record();
  decide(replicas, 0, 1);
  poll(replicas, 0, std::nullopt);
  replicas[0].settle(replicas.delivering());
  SUBCASE("another call") {
    replicas[0].repeat();
    CHECK(why_of([&] { poll(replicas, 0, 1); }).starts_with("diverged: "));
  }
  SUBCASE("a call that cannot say no") {
    replicas[0].repeat();
    CHECK(follow(replicas, 0) == bytes(1));
    CHECK(why_of([&] { follow(replicas, 0); }).starts_with("diverged: "));
  }
  SUBCASE("more") {
    replicas[0].repeat();
    follow(replicas, 0);
    poll(replicas, 0, 1);
    CHECK(why_of([&] { poll(replicas, 0, 1); }).starts_with("diverged: "));
  }
  SUBCASE("less") {
    replicas[0].repeat();
    follow(replicas, 0);
    CHECK(why_of([&] { replicas[0].stop_repeating(); }).starts_with("diverged: "));
  }
}

TEST_CASE("decisions: what was before the checkpoint is not told again") {
  DecidingReplicas replicas({.planes = 2});
  replicas[0].restart_record();
  decide(replicas, 0, 1);
  replicas[0].restart_record();
  decide(replicas, 0, 2);
  replicas[0].repeat();
  CHECK(follow(replicas, 0) == bytes(2));
  replicas[0].stop_repeating();
}

TEST_CASE("decisions: an announcement is there at once, wherever the programs are") {
  DecidingReplicas replicas({.planes = 3});
  CHECK(decide(replicas, 0, 1) == bytes(1));
  CHECK(replicas[0].announce(bytes(40)));
  CHECK(decide(replicas, 0, 2) == bytes(2));
  CHECK(replicas[0].announce(bytes(41)));
  replicas.deliver_all();
  for (int plane : {1, 2}) {
    CHECK(replicas[plane].has_news());
    const Decisions::Announced announced = replicas[plane].take_announced();
    CHECK(announced.all == std::vector<Bytes>{bytes(40), bytes(41)});
    CHECK_FALSE(announced.is_leading);
    CHECK_FALSE(replicas[plane].has_news());
    CHECK(follow(replicas, plane) == bytes(1));
    CHECK(follow(replicas, plane) == bytes(2));
  }
  for (int plane = 0; plane < 3; ++plane) {
    replicas[plane].finish(replicas.delivering());
    CHECK(replicas[plane].kept() == 0);
  }
}

TEST_CASE("decisions: who follows announces nothing") {
  DecidingReplicas replicas({});
  CHECK_FALSE(replicas[1].announce(bytes(1)));
  CHECK(replicas[0].take_announced().is_leading);
}

TEST_CASE("decisions: what follows from an announcement is settled when all have that") {
  DecidingReplicas replicas({.planes = 3});
  CHECK(replicas[0].announce(bytes(40)));
  replicas.deliver(0, 1);  // and nothing to 2
  int waited = 0;
  replicas[1].settle([&] {
    if (++waited == 3) replicas.deliver_all();
  });
  CHECK(waited == 3);
}

TEST_CASE("decisions: a new leader has all that was announced, and announces what comes") {
  DecidingReplicas replicas({.planes = 3});
  CHECK(decide(replicas, 0, 1) == bytes(1));
  CHECK(replicas[0].announce(bytes(40)));
  replicas.deliver(0, 2);
  replicas.deliver(0, 2);
  replicas.lose(0);
  CHECK_FALSE(replicas[1].announce(bytes(50)));  // it does not know yet what 2 knows
  replicas.deliver_all();
  const Decisions::Announced announced = replicas[1].take_announced();
  CHECK(announced.all == std::vector<Bytes>{bytes(40)});
  CHECK(announced.is_leading);
  CHECK(replicas[1].announce(bytes(50)));  // before its program has followed the decision
  replicas.deliver_all();
  CHECK(replicas[2].take_announced().all == std::vector<Bytes>{bytes(40), bytes(50)});
  CHECK(follow(replicas, 1) == bytes(1));
  CHECK(follow(replicas, 2) == bytes(1));
}

TEST_CASE("decisions: an announcement takes the room of a decision that is being made") {
  DecidingReplicas replicas({.window = 1});
  const auto find = [&] {
    CHECK(replicas[0].announce(bytes(40)));
    return bytes(1);
  };
  CHECK(replicas[0].decide(clock_call, blocks, find, replicas.delivering()) == bytes(1));
  replicas.deliver_all();
  CHECK(replicas[1].take_announced().all == std::vector<Bytes>{bytes(40)});
  CHECK(follow(replicas, 1) == bytes(1));
}

TEST_CASE("decisions: refusals before an announcement are still counted") {
  DecidingReplicas replicas({});
  for (int i = 0; i < 3; ++i) CHECK_FALSE(poll(replicas, 0, std::nullopt));
  CHECK(replicas[0].announce(bytes(40)));
  CHECK(poll(replicas, 0, 7) == bytes(7));
  replicas.deliver_all();
  for (int i = 0; i < 3; ++i) CHECK_FALSE(poll(replicas, 1, 3));
  CHECK(poll(replicas, 1, 3) == bytes(7));
}
