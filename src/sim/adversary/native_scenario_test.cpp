// Ways of an operation that is native until a loss that the explorer would need long to find.
#include <utility>

#include "doctest/doctest.h"
#include "protocols/native_until_loss/native_until_loss.hpp"
#include "sim/adversary/scenario_test.hpp"

namespace resprout::sim {
namespace {

using protocols::NativeUntilLoss;
using protocols::NativeUntilLossConfig;
using Scenario = testing::Scenario<NativeUntilLoss>;

const NativeUntilLossConfig six(6, 2);

// 0 tells 2 alone; 1 wrongly suspects 2 and settles without it that nobody has the result. 2 has
// it, still runs, and coordinates the next round: what 3 and 4 have been told by 1 has to stand.
TEST_CASE("that nobody had the result stands, also with a suspected process that has it") {
  Scenario scenario(six);
  for (const auto& [from, to] : {std::pair{1, 0}, {3, 2}, {2, 0}, {5, 4}, {4, 0}, {0, 2}})
    scenario.tells(from, to);
  scenario.dies(0);
  scenario.suspects(1, {0, 2});
  for (int rank : {3, 4, 5}) scenario.suspects(rank, {0});
  for (const auto& [from, to] : {std::pair{4, 3}, {3, 1}, {5, 1}, {1, 3}, {3, 4}})
    scenario.tells(from, to);
  scenario.dies(1);
  for (int rank : {3, 4, 5}) scenario.suspects(rank, {1});
  scenario.suspects(2, {0, 1});
  for (const auto& [from, to] : {std::pair{3, 2}, {5, 4}, {4, 2}, {2, 4}}) scenario.tells(from, to);
  CHECK(scenario.verdict().value_or("") == "");
}

}  // namespace
}  // namespace resprout::sim
