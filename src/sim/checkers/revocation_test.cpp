// The checker accepts what it must accept and finds each broken promise.
#include "sim/checkers/revocation.hpp"

#include <vector>

#include "doctest/doctest.h"

namespace resprout::sim {
namespace {

// Six processes: 0 has revoked and told 1, 2, 4 and 5; 3 heard it from 1.
std::vector<Outcome> six() {
  std::vector<Outcome> outcomes(6, {true, 1, 0, {1, 0}});
  outcomes[3].result.contributors = 0b10;
  return outcomes;
}

std::string text(const std::vector<Outcome>& outcomes, std::uint64_t initiators = 1,
                 Reach reach = Reach::detector) {
  return check_revocation(outcomes, initiators, reach).value_or("fine");
}

TEST_CASE("all are revoked, once, by the word of one who revoked or who was told") {
  CHECK(text(six()) == "fine");
  CHECK(text(std::vector<Outcome>(6), 0) == "fine");
}

TEST_CASE("nobody is revoked twice, by nobody, or not at all by itself") {
  auto outcomes = six();
  outcomes[4].delivered = 2;
  CHECK(text(outcomes) == "process 4 was revoked 2 times");
  CHECK(text(six(), 0) == "process 0 was revoked by nobody");
  std::vector<Outcome> silent(6);
  CHECK(text(silent) == "process 0 has revoked, and is not revoked");
  silent[0].is_survivor = false;
  CHECK(text(silent) == "fine");
}

TEST_CASE("if a survivor knows, all survivors know") {
  auto outcomes = six();
  outcomes[4].delivered = 0;
  CHECK(text(outcomes) == "process 4 never heard of what process 0 knows");
  outcomes[4].is_survivor = false;
  CHECK(text(outcomes) == "fine");
}

TEST_CASE("if all who know are dead nobody has to know") {
  std::vector<Outcome> outcomes(6);
  outcomes[0] = {false, 1, 0, {1, 0}};
  CHECK(text(outcomes) == "fine");
}

// 0 and 3 of six are not linked.
TEST_CASE("without a detector it is those who are linked over survivors that know") {
  auto outcomes = six();
  outcomes[3].delivered = 0;
  for (const std::size_t dead : {1, 2, 4, 5}) outcomes[dead].is_survivor = false;
  CHECK(text(outcomes, 1, Reach::graph) == "fine");
  CHECK(text(outcomes) == "process 3 never heard of what process 0 knows");
  outcomes[4].is_survivor = true;
  CHECK(text(outcomes, 1, Reach::graph) == "process 3 never heard of what process 4 knows");
}

}  // namespace
}  // namespace resprout::sim
