// Every checker accepts what it must accept and finds each broken promise.
#include "sim/checkers/outcome.hpp"

#include <vector>

#include "doctest/doctest.h"

namespace resprout::sim {
namespace {

// Three processes, of which 0 died; 1 and 2 have delivered what 1 and 2 gave.
std::vector<Outcome> three() {
  const Payload of_two{0b110, 0b001};
  return {{false, 0, 0, {}}, {true, 1, 0, of_two}, {true, 1, 0, of_two}};
}

std::string text(const Verdict& verdict) { return verdict.value_or("fine"); }

TEST_CASE("an allreduce of all survivors is fine, with or without the dead") {
  CHECK(text(check_allreduce(three())) == "fine");
  auto with_the_dead = three();
  for (auto& outcome : with_the_dead) outcome.result = {0b111, 0};
  CHECK(text(check_allreduce(with_the_dead)) == "fine");
}

TEST_CASE("an allreduce must end once everywhere") {
  auto outcomes = three();
  outcomes[2].delivered = 0;
  CHECK(text(check_allreduce(outcomes)) == "process 2 never returned");
  outcomes[2].delivered = 2;
  CHECK(text(check_allreduce(outcomes)) == "process 2 returned 2 times");
  outcomes[2].delivered = 0;
  outcomes[2].failed = 1;
  CHECK(text(check_allreduce(outcomes)) == "process 2 failed");
}

TEST_CASE("an allreduce must count survivors, and account for everybody once") {
  auto outcomes = three();
  for (auto& outcome : outcomes) outcome.result = {0b010, 0b101};
  CHECK(text(check_allreduce(outcomes)) ==
        "process 1 lacks the contribution of process 2: { -0 1 -2 }");
  for (auto& outcome : outcomes) outcome.result = {0b110, 0};
  CHECK(text(check_allreduce(outcomes)) ==
        "process 1 does not account for everybody once: { 1 2 }");
  for (auto& outcome : outcomes) outcome.result = {0b111, 0b001};
  CHECK(text(check_allreduce(outcomes)).find("everybody once") != std::string::npos);
}

TEST_CASE("an allreduce leaves out the survivors who are late, and only those") {
  auto outcomes = three();
  outcomes[2].is_late = true;
  CHECK(text(check_allreduce(outcomes)) == "process 1 has what process 2 owes: { -0 1 2 }");
  for (auto& outcome : outcomes) outcome.result = {0b010, 0b101};
  CHECK(text(check_allreduce(outcomes)) == "fine");
  for (auto& outcome : outcomes) outcome.result = {0b100, 0b011};
  CHECK(text(check_allreduce(outcomes)) ==
        "process 1 lacks the contribution of process 1: { -0 -1 2 }");
}

TEST_CASE("an allreduce must give the same everywhere, but what the suspected return is free") {
  auto outcomes = three();
  outcomes[2].result = {0b111, 0};
  CHECK(text(check_allreduce(outcomes)) == "process 2 disagrees: { 0 1 2 } is not { -0 1 2 }");
  outcomes[2].is_survivor = false;
  CHECK(text(check_allreduce(outcomes)) == "fine");
}

TEST_CASE("a reduce gives a result to its root alone") {
  auto outcomes = three();
  outcomes[1].result = {};
  CHECK(text(check_reduce(outcomes)) == "fine");
  outcomes[0] = {true, 1, 0, {0b110, 0b001}};
  CHECK(text(check_reduce(outcomes)) ==
        "process 0 lacks the contribution of process 0: { -0 1 2 }");
  outcomes[0].delivered = 0;
  CHECK(text(check_reduce(outcomes)) == "process 0 never returned");
}

TEST_CASE("a scan counts all survivors up to each, and the same of the dead at all of them") {
  std::vector<Outcome> outcomes = {
      {true, 1, 0, {0b0001, 0}}, {false, 0, 0, {}}, {true, 1, 0, {0b0101, 0b0010}}, {}};
  outcomes[3] = {true, 1, 0, {0b1101, 0b0010}};
  CHECK(text(check_scan(outcomes)) == "fine");
  outcomes[3].result = {0b1111, 0};
  CHECK(text(check_scan(outcomes)) == "process 3 disagrees with those below: { 0 1 2 3 }");
  outcomes[2].result = {0b0111, 0};
  CHECK(text(check_scan(outcomes)) == "fine");
  outcomes[2].result = {0b0110, 0b0001};
  CHECK(text(check_scan(outcomes)).find("lacks the contribution of process 0") !=
        std::string::npos);
}

TEST_CASE("a broadcast whose root died may fail, but then everywhere") {
  std::vector<Outcome> outcomes = {{false, 1, 0, {1, 0}}, {true, 0, 1, {}}, {true, 0, 1, {}}};
  CHECK(text(check_reliable_broadcast(outcomes, 0)) == "fine");
  outcomes[2] = {true, 1, 0, {1, 0}};
  CHECK(text(check_reliable_broadcast(outcomes, 0)) == "process 2 delivered, others did not");
  outcomes[1] = outcomes[2];
  CHECK(text(check_reliable_broadcast(outcomes, 0)) == "fine");
}

TEST_CASE("a broadcast whose root lives must not fail, and delivers the root's payload only") {
  std::vector<Outcome> outcomes = {{true, 1, 0, {1, 0}}, {true, 0, 1, {}}};
  CHECK(text(check_reliable_broadcast(outcomes, 0)) == "process 1 failed");
  outcomes[1] = {true, 1, 0, {2, 0}};
  CHECK(text(check_reliable_broadcast(outcomes, 0)) ==
        "process 1 delivered what is not the root's: { 1 }");
}

TEST_CASE("a corrected tree may leave processes uncolored only where it is allowed to") {
  const std::vector<Outcome> outcomes = {{true, 1, 0, {1, 0}}, {true, 0, 0, {}}};
  CHECK(text(check_broadcast(outcomes, 0, false)) == "fine");
  CHECK(text(check_broadcast(outcomes, 0, true)) == "process 1 was left uncolored");
}

TEST_CASE("folding is in order only if nobody counts twice and lower ranks come first") {
  CHECK(are_in_order({0b0011, 0}, {0b1100, 0}));
  CHECK_FALSE(are_in_order({0b0011, 0}, {0b0110, 0}));
  CHECK_FALSE(are_in_order({0b1100, 0}, {0b0011, 0}));
}

}  // namespace
}  // namespace resprout::sim
