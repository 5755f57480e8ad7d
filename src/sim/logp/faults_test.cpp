// See faults.hpp.
#include "sim/logp/faults.hpp"

#include <set>

#include "core/random.hpp"
#include "doctest/doctest.h"

using namespace resprout;
using namespace resprout::sim;

namespace {

std::vector<std::int32_t> dead(std::string_view text, std::int32_t procs, std::int32_t root = 0,
                               std::uint64_t seed = 1) {
  const auto parsed = parse_faults(text, procs, rank_at(root), seed);
  REQUIRE(std::holds_alternative<std::vector<Death>>(parsed));
  std::vector<std::int32_t> ranks;
  for (const Death& death : std::get<std::vector<Death>>(parsed)) {
    CHECK(death.at == Time{0});
    ranks.push_back(index(death.rank));
  }
  return ranks;
}

}  // namespace

TEST_CASE("named ranks die as named, the root too") {
  CHECK(dead("none", 10).empty());
  CHECK(dead("3,7,9", 10) == std::vector{3, 7, 9});
  CHECK(dead("0,", 10) == std::vector{0});
}

TEST_CASE("only those are named who stand there, not those who are drawn") {
  const auto named = Faults::parse("3,7,", 10, rank_at(0));
  REQUIRE(std::holds_alternative<Faults>(named));
  CHECK(std::get<Faults>(named).names(rank_at(7)));
  CHECK_FALSE(std::get<Faults>(named).names(rank_at(0)));
  const auto drawn = Faults::parse("9", 10, rank_at(0));
  REQUIRE(std::holds_alternative<Faults>(drawn));
  CHECK_FALSE(std::get<Faults>(drawn).names(rank_at(7)));
}

TEST_CASE("a count and a share draw different processes, never the root, the same for a seed") {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const auto ranks = dead("9", 10, 4, seed);
    const std::set<std::int32_t> distinct(ranks.begin(), ranks.end());
    CHECK(distinct.size() == 9);
    CHECK(distinct.count(4) == 0);
    CHECK(dead("5", 100, 0, seed) == dead("5", 100, 0, seed));
  }
  CHECK(dead("5", 100, 0, 1) != dead("5", 100, 0, 2));
  CHECK(dead("0", 10).empty());
}

TEST_CASE("a share is rounded to the nearest") {
  CHECK(dead("0.01%", 65536).size() == 7);
  CHECK(dead("4%", 65536).size() == 2621);
  CHECK(dead("0%", 10).empty());
}

TEST_CASE("every process is as likely to die as another") {
  std::vector<int> deaths(10, 0);
  for (std::uint64_t seed = 0; seed < 9000; ++seed)
    for (const std::int32_t rank : dead("1", 10, 0, seed)) ++deaths[static_cast<std::size_t>(rank)];
  CHECK(deaths[0] == 0);
  for (std::size_t rank = 1; rank < 10; ++rank) {
    CHECK(deaths[rank] > 850);
    CHECK(deaths[rank] < 1150);
  }
}

TEST_CASE("anything else is refused with one line that shows the forms") {
  for (const char* text : {"", "some", "10", "-1", "1.5", "101%", "-1%", "%", "nan%", "3,x", "3,10",
                           ",", "3,,4", "-1,2"}) {
    CAPTURE(text);
    const auto parsed = parse_faults(text, 10, rank_at(0), 1);
    REQUIRE(std::holds_alternative<std::string>(parsed));
    const auto& line = std::get<std::string>(parsed);
    CHECK(line.find("'" + std::string(text) + "' is none of: none, N") != std::string::npos);
    CHECK(line.find('\n') == std::string::npos);
  }
}

TEST_CASE("later deaths are RANK@T") {
  const auto parsed = parse_deaths(std::vector<std::string>{"3@10", "0@0"}, 4);
  REQUIRE(std::holds_alternative<std::vector<Death>>(parsed));
  const auto& deaths = std::get<std::vector<Death>>(parsed);
  CHECK(deaths[0].rank == rank_at(3));
  CHECK(deaths[0].at == Time{10});
  for (const char* text : {"4@1", "3", "3@", "@3", "3@-1", "3@1x", "a@1"}) {
    CAPTURE(text);
    CHECK(std::holds_alternative<std::string>(parse_deaths(std::vector<std::string>{text}, 4)));
  }
}

TEST_CASE("a draw is the beginning of a random order, whatever was drawn before") {
  Random random(5);
  for (const std::int32_t procs : {1, 2, 9, 1000}) {
    const auto size = static_cast<std::uint64_t>(procs);
    const auto root = static_cast<std::int32_t>(random.below(size));
    FaultDraw faults(procs, rank_at(root));
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
      std::vector<std::int32_t> ranks;
      for (std::int32_t rank = 0; rank < procs; ++rank)
        if (rank != root) ranks.push_back(rank);
      const std::uint64_t count = random.below(size);
      const auto drawn = faults.draw(static_cast<std::int64_t>(count), seed);
      REQUIRE(drawn.size() == count);
      Random order(seed);
      for (std::uint64_t i = 0; i < count; ++i) {
        std::swap(ranks[i], ranks[i + order.below(ranks.size() - i)]);
        REQUIRE(index(drawn[i].rank) == ranks[i]);
        REQUIRE(drawn[i].at == Time{0});
      }
    }
  }
}
