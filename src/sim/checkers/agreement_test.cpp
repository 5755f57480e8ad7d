// The checker accepts what it must accept and finds each broken promise.
#include "sim/checkers/agreement.hpp"

#include "doctest/doctest.h"

namespace resprout::sim {
namespace {

const Payload all{0b111, 0};
const Payload without_0{0b110, 0b001};

// Three processes that have returned what all gave; 0 has died then.
std::vector<Outcome> three(const Payload& result = all) {
  return {{false, 1, 0, result}, {true, 1, 0, result}, {true, 1, 0, result}};
}

std::string text(const std::vector<Outcome>& outcomes, Reading read = read_agreed) {
  return check_agreement(outcomes, various_opinions(3), read).value_or("fine");
}

TEST_CASE("all may have returned what all gave, or what the survivors gave, or 0 may not") {
  CHECK(text(three()) == "fine");
  CHECK(text(three(without_0)) == "fine");
  auto outcomes = three(without_0);
  outcomes[0] = {false, 0, 0, {}};
  CHECK(text(outcomes) == "fine");
}

TEST_CASE("survivors return, once, and the same, with all that survivors gave") {
  auto outcomes = three();
  outcomes[2].delivered = 0;
  CHECK(text(outcomes) == "process 2 never returned");
  outcomes = three();
  outcomes[0].delivered = 2;
  CHECK(text(outcomes) == "process 0 returned 2 times");
  outcomes = three();
  outcomes[2].result = without_0;
  CHECK(text(outcomes).find("process 2 disagrees") == 0);
  CHECK(text(three({0b011, 0b100})).find("lacks the contribution of process 2") !=
        std::string::npos);
}

TEST_CASE("who dies when it has returned has returned what the others do") {
  auto outcomes = three(without_0);
  outcomes[0].result = all;
  CHECK(text(outcomes) == "process 0 got -8 and no failure, and due was -7 and a failure");
}

TEST_CASE("if nobody survives nothing is promised") {
  auto outcomes = three(without_0);
  outcomes[0].result = all;
  for (Outcome& outcome : outcomes) outcome.is_survivor = false;
  CHECK(text(outcomes) == "fine");
}

TEST_CASE("who judges by what it has acknowledged itself is found out") {
  CHECK(text(three(), read_selfishly) == "fine");
  CHECK(text(three(without_0), read_selfishly) ==
        "process 0 got -7 and no failure, and due was -7 and a failure");
}

TEST_CASE("a failure that all who are left have acknowledged is none") {
  std::vector<Given> given = various_opinions(3);
  given[2].acknowledged = {0, 1};
  CHECK(read_agreed(without_0, given, 1) == Got{-7, false});
  CHECK(read_agreed(without_0, various_opinions(3), 1) == Got{-7, true});
  CHECK_FALSE(check_agreement(three(without_0), given).has_value());
}

}  // namespace
}  // namespace resprout::sim
