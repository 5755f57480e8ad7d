// Ways of an allreduce that random choice hardly finds: survivors must agree although a suspected
// process, which still runs, remembers a decision of its own.
#include "sim/adversary/scenario_test.hpp"
#include "doctest/doctest.h"
#include "protocols/ftco_allreduce/ftco_allreduce.hpp"

namespace resprout::sim {
namespace {

using protocols::FtcoAllreduce;
using protocols::FtcoAllreduceConfig;

using Scenario = testing::Scenario<FtcoAllreduce>;

constexpr FtcoAllreduceConfig five_quaternary{5, 4, Rank{0}, true};
constexpr FtcoAllreduceConfig six_quaternary{6, 4, Rank{0}, true};
constexpr FtcoAllreduceConfig six_binary{6, 2, Rank{0}, true};

// 0 decides and tells 3 alone; 1 decides without 3 and tells 4 alone; 2 hears both.
TEST_CASE("of two decisions that are reported to a coordinator the later one stands") {
  Scenario five(five_quaternary);
  for (int from : {1, 2, 3, 4}) five.tells(from, 0);
  five.tells(0, 3);
  five.dies(0);
  five.suspects(1, {0, 3});
  for (int rank : {2, 3, 4}) five.suspects(rank, {0});
  for (int from : {2, 4}) five.tells(from, 1);
  five.tells(1, 4);
  five.dies(1);
  for (int rank : {2, 3, 4}) five.suspects(rank, {1});
  five.tells(3, 2);
  five.tells(4, 2);
  CHECK(five.verdict().value_or("") == "");
}

// 0 decides and tells 4 alone; 1 decides without 4 and tells 5 alone; 2 takes the latter over and
// tells 4 alone, which has delivered already. 3 hears both.
TEST_CASE("a process that hears of a later decision goes on to report its own, by its own round") {
  Scenario six(six_quaternary);
  six.tells(5, 4);
  for (int from : {1, 2, 3, 4}) six.tells(from, 0);
  six.tells(0, 4);
  six.dies(0);
  six.suspects(1, {0, 4});
  for (int rank : {2, 3, 4, 5}) six.suspects(rank, {0});
  for (int from : {2, 3, 5}) six.tells(from, 1);
  six.tells(1, 5);
  six.dies(1);
  for (int rank : {2, 3, 4, 5}) six.suspects(rank, {1});
  for (int from : {3, 4, 5}) six.tells(from, 2);
  six.tells(2, 4);
  six.dies(2);
  for (int rank : {3, 4, 5}) six.suspects(rank, {2});
  for (int from : {4, 5}) six.tells(from, 3);
  CHECK(six.verdict().value_or("") == "");
}

// 0 decides and tells 4 alone; 1 decides without 4. `informed` is told by 1, nobody else is.
Scenario six_of_which_four_knows_too_much(int informed) {
  Scenario six(six_binary);
  six.tells(1, 0);
  six.tells(3, 2);
  six.tells(2, 0);
  six.tells(5, 4);
  six.tells(4, 0);
  six.tells(0, 4);
  six.dies(0);
  for (int rank : {1, 2, 4, 5}) six.suspects(rank, {0});
  six.suspects(3, {0, 4});
  for (int from : {2, 3, 5}) six.tells(from, 1);
  six.tells(1, informed);
  six.dies(1);
  for (int rank : {2, 3, 4, 5}) six.suspects(rank, {1});
  return six;
}

TEST_CASE("a process passes on what the round decided, not what it has delivered itself") {
  Scenario six = six_of_which_four_knows_too_much(3);
  six.tells(3, 2);
  six.tells(5, 4);
  six.tells(4, 2);
  six.tells(2, 4);
  six.tells(4, 5);
  CHECK(six.verdict().value_or("") == "");
}

TEST_CASE("a process reports the later decision of its child instead of its own") {
  Scenario six = six_of_which_four_knows_too_much(5);
  six.tells(3, 2);
  six.tells(5, 4);
  six.tells(4, 2);
  CHECK(six.verdict().value_or("") == "");
}

}  // namespace
}  // namespace resprout::sim
