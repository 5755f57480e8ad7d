// The corrections, driven by hand: whom one process sends to, from what it hears. Whole rings are
// in src/sim.
#include <cstring>
#include <vector>

#include "doctest/doctest.h"
#include "protocols/correction/any.hpp"
#include "protocols/correction/corrector.hpp"

using namespace resprout;
using namespace resprout::protocols;

namespace {

// One process of a ring, and offsets instead of ranks: +3 is three places to the right.
template <RingCorrection C = AnyCorrection>
class Process {
 public:
  Process(const CorrectionRules& rules, std::int32_t procs)
      : rules_(rules), procs_(procs), correction_(rules) {
    correction_.join(view());
  }

  Process& from_left(std::int32_t distance) {
    correction_.hear(view(), Direction::right, distance);
    return *this;
  }
  Process& from_right(std::int32_t distance) {
    correction_.hear(view(), Direction::left, distance);
    return *this;
  }
  Process& at(std::int64_t ticks) {
    now_ = {ticks};
    correction_.handle_timeout(view());
    return *this;
  }
  std::vector<int> sends(std::size_t limit = 1000) {
    std::vector<int> all;
    while (all.size() < limit) {
      const std::int32_t offset = correction_.next(view());
      if (offset == 0) break;
      all.push_back(offset);
    }
    return all;
  }
  Time deadline() const { return correction_.deadline(view()).at; }

 private:
  RingView view() const { return {rules_, procs_, now_}; }

  CorrectionRules rules_;
  std::int32_t procs_;
  Time now_{};
  C correction_;
};

using Offsets = std::vector<int>;

constexpr CorrectionRules opportunistic{.kind = Correction::opportunistic, .distance = 3};
constexpr CorrectionRules optimized{.kind = Correction::optimized_opportunistic, .distance = 4};
constexpr CorrectionRules failure_proof{.kind = Correction::failure_proof, .failures = 3};
constexpr CorrectionRules delayed{.kind = Correction::delayed, .delay = 10};

}  // namespace

TEST_CASE(
    "opportunistic: right, left, right, ... the distance to each side, or to the right only") {
  CHECK(Process<>(opportunistic, 64).from_left(1).sends() == Offsets{1, -1, 2, -2, 3, -3});
  CorrectionRules right = opportunistic;
  right.sides = Sides::right;
  CHECK(Process<>(right, 64).from_left(1).sends() == Offsets{1, 2, 3});
  CHECK(Process<>(right, 3).sends() == Offsets{1, 2});
}

TEST_CASE("optimized: who hears from the right stops there, and leaves what that one covers") {
  CHECK(Process<>(optimized, 64).from_right(3).sends() == Offsets{-2, -3, -4});
  CHECK(Process<>(optimized, 64).from_left(3).sends() == Offsets{2, 3, 4});
  CHECK(Process<>(optimized, 64).from_left(4).sends() == Offsets{1, 2, 3, 4});
}

TEST_CASE("optimized, heeding the right only: a message from the left changes nothing") {
  CorrectionRules rules = optimized;
  rules.heed = Heed::right;
  CHECK(Process<>(rules, 64).from_left(1).sends() == Offsets{1, -1, 2, -2, 3, -3, 4, -4});
  CHECK(Process<>(rules, 64).from_right(1).sends() == Offsets{-4});
}

TEST_CASE("optimized, one-directional: what a neighbor on the left covers is left out") {
  CorrectionRules rules = optimized;
  rules.sides = Sides::right;
  CHECK(Process<>(rules, 64).sends() == Offsets{1, 2, 3, 4});
  CHECK(Process<>(rules, 64).from_left(1).sends() == Offsets{4});
  CHECK(Process<>(rules, 64).from_left(4).sends() == Offsets{1, 2, 3, 4});
}

TEST_CASE("failure-proof against three: two different senders on each side, and as far as both") {
  Process<> process(failure_proof, 64);
  CHECK(process.from_left(1).from_right(2).sends(4) == Offsets{-1, 1, -2, 2});
  process.from_left(4);
  CHECK(process.sends(4) == Offsets{-3, 3, -4, 4});
  CHECK(process.from_right(1).sends().empty());
}

TEST_CASE("failure-proof against one is checked") {
  CorrectionRules rules = failure_proof;
  rules.failures = 1;
  for (const auto& [left, right] : {std::pair{1, 1}, {4, 5}, {7, 2}}) {
    Process<> proof(rules, 64);
    Process<> checked({.kind = Correction::checked}, 64);
    CHECK(proof.from_left(left).from_right(right).sends() ==
          checked.from_left(left).from_right(right).sends());
  }
}

TEST_CASE("failure-proof against all others: to everybody, whoever is heard") {
  CorrectionRules rules = failure_proof;
  rules.failures = 100;
  CHECK(Process<>(rules, 6).from_left(1).from_left(2).from_right(1).sends().size() == 5);
}

TEST_CASE("delayed: one message to the left, and if the right neighbor answers in time no more") {
  Process<> process(delayed, 64);
  CHECK(process.sends() == Offsets{-1});
  CHECK(process.deadline() == Time{10});
  CHECK(process.at(9).from_right(1).deadline() == never);
  CHECK(process.at(20).sends().empty());
}

TEST_CASE("delayed: after the delay to the right, one by one, until somebody answers from there") {
  Process<> process(delayed, 64);
  process.sends();
  CHECK(process.at(9).sends().empty());
  CHECK(process.at(10).sends(3) == Offsets{1, 2, 3});
  CHECK(process.deadline() == never);
  CHECK(process.from_right(3).sends().empty());
}

TEST_CASE("delayed: the delay begins again with the message to the left, unless it is over") {
  Process<> process(delayed, 64);
  CHECK(process.deadline() == Time{10});
  CHECK(process.at(7).sends() == Offsets{-1});
  CHECK(process.deadline() == Time{17});
  CHECK(process.at(16).sends().empty());
  CHECK(process.at(17).sends(1) == Offsets{1});
  CHECK(Process<>(delayed, 64).at(10).sends(3) == Offsets{-1, 1, 2});
}

TEST_CASE("delayed: who is reached from the left answers at once; the nearest of several") {
  Process<> process(delayed, 64);
  CHECK(process.from_left(3).sends() == Offsets{-3, -1});
  CHECK(process.from_left(5).from_left(2).sends() == Offsets{-2});
  CHECK(process.from_left(1).sends().empty());  // has been sent to
  CHECK(Process<>(delayed, 64).from_left(1).sends() == Offsets{-1});
}

TEST_CASE("nobody is sent to twice, and all corrections end, in rings of any size, nobody heard") {
  for (const CorrectionRules& rules :
       {opportunistic, optimized, failure_proof, delayed, CorrectionRules{}})
    for (const std::int32_t procs : {1, 2, 3, 4, 7, 8}) {
      Process<> process(rules, procs);
      Offsets all = process.sends();
      for (const int offset : process.at(100).sends()) all.push_back(offset);
      std::vector<bool> seen(static_cast<std::size_t>(procs), false);
      seen[0] = true;
      for (const int offset : all) {
        const auto place = static_cast<std::size_t>((offset + procs) % procs);
        CHECK(!seen[place]);
        seen[place] = true;
      }
      CAPTURE(static_cast<int>(rules.kind));
      const bool is_far = rules.distance >= procs - 1 || tolerated_failures(rules) >= 0;
      if (is_far) CHECK(all.size() == static_cast<std::size_t>(procs) - 1);
    }
}

TEST_CASE("any correction does what the one does that it stands for") {
  for (const std::int32_t heard : {1, 2, 5}) {
    CHECK(Process<Checked>({}, 64).from_left(heard).from_right(2).sends() ==
          Process<>({}, 64).from_left(heard).from_right(2).sends());
    CHECK(Process<OptimizedOpportunistic>(optimized, 64).from_left(heard).sends() ==
          Process<>(optimized, 64).from_left(heard).sends());
  }
  CHECK(Process<>({.kind = Correction::none}, 64).from_left(1).sends().empty());
}

TEST_CASE("a corrector sends nothing before its time, or if it takes no part") {
  const CorrectionRules rules;
  Corrector<AnyCorrection> corrector(rules, rank_at(9));
  const auto view = [&](std::int64_t now) { return RingView{rules, 10, {now}}; };
  CHECK(!corrector.next(view(50), Slot::result));
  corrector.join(view(4), Time{7});
  CHECK(corrector.deadline(view(4), Time{7}).at == Time{7});
  corrector.handle_timeout(view(6), Time{7});
  CHECK(!corrector.next(view(6), Slot::result));
  corrector.handle_timeout(view(7), Time{7});
  const auto left = corrector.next(view(7), Slot::result);
  REQUIRE(left);
  CHECK(*left == Message{rank_at(9), rank_at(8), 0, MessageKind::correction, Slot::result, 0});
  const auto right = corrector.next(view(7), Slot::input);
  REQUIRE(right);
  CHECK(*right == Message{rank_at(9), rank_at(0), 0, MessageKind::correction, Slot::input, 1});
  corrector.leave();
  CHECK(!corrector.next(view(8), Slot::result));
}
