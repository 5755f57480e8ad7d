// What the corrections promise, on the LogP machine: faults that were there before, and deaths at
// any time.
#include <string>

#include "core/random.hpp"
#include "doctest/doctest.h"
#include "sim/logp/simulation.hpp"

using namespace resprout;
using namespace resprout::sim;

namespace {

std::unique_ptr<Simulation> simulation(const std::string& spec, std::int32_t procs,
                                       const LogP& model = {}, Rank root = rank_at(0)) {
  const auto parsed = registry::parse(spec);
  REQUIRE(std::holds_alternative<registry::Spec>(parsed));
  auto made = Simulation::make({std::get<registry::Spec>(parsed), procs, model, root, false});
  REQUIRE(std::holds_alternative<std::unique_ptr<Simulation>>(made));
  return std::get<std::unique_ptr<Simulation>>(std::move(made));
}

template <std::size_t N>
std::string one_of(Random& random, const char* const (&words)[N]) {
  return words[random.below(N)];
}

std::string draw_tree(Random& random) {
  return ",tree=" + one_of(random, {"binomial", "kary,k=4", "knomial,k=3", "lame,k=2", "optimal",
                                    "binomial,numbering=in-order"});
}

std::vector<Death> draw_dead(Random& random, std::int32_t procs, Rank root) {
  const auto some = static_cast<std::uint64_t>(procs) / 3 + 1;
  return std::get<std::vector<Death>>(
      parse_faults(std::to_string(random.below(some)), procs, root, random.next()));
}

}  // namespace

TEST_CASE("opportunistic variants that look to one side color everybody in gaps they reach over") {
  Random random(11);
  int covered = 0;
  for (int i = 0; i < 4000; ++i) {
    const auto d = static_cast<std::int32_t>(1 + random.below(6));
    const auto procs = static_cast<std::int32_t>(2 * d + 1 + random.below(120));
    const bool goes_right = random.chance(1, 2);
    const std::string spec =
        "corrected-tree:correction=" +
        one_of(random, {"opportunistic", "optimized-opportunistic"}) +
        (goes_right ? ",sides=right" : ",heed=right") + ",d=" + std::to_string(d) +
        ",start=" + one_of(random, {"synchronized", "overlapped"}) + draw_tree(random);
    const LogP model{static_cast<Duration>(random.below(6)),
                     static_cast<Duration>(1 + random.below(3)), 0};
    const auto dead = draw_dead(random, procs, rank_at(0));
    const Result result = simulation(spec, procs, model)->run(dead);
    if (*result.g_max > (goes_right ? d : 2 * d)) continue;
    CAPTURE(spec);
    CAPTURE(i);
    REQUIRE(result.uncolored == 0);
    if (*result.g_max > 0) ++covered;
  }
  CHECK(covered > 1000);
}

TEST_CASE("the errata's example is colored if only messages from the right are heeded") {
  const std::string spec =
      "corrected-tree:correction=optimized-opportunistic,d=4,numbering=in-order";
  const std::vector dead{Death{rank_at(2), Time{0}}};
  CHECK(simulation(spec, 32)->run(dead).uncolored == 1);
  CHECK(simulation(spec + ",heed=right", 32)->run(dead).uncolored == 0);
}

TEST_CASE("failure-proof colors everybody, whoever was dead, if up to f die at any time") {
  Random random(12);
  for (int i = 0; i < 3000; ++i) {
    const auto f = static_cast<std::int32_t>(1 + random.below(5));
    const auto procs = static_cast<std::int32_t>(2 + random.below(100));
    const Rank root = rank_at(static_cast<std::int32_t>(random.below(2)));
    const std::string spec = "corrected-tree:correction=failure-proof,f=" + std::to_string(f) +
                             ",start=" + one_of(random, {"synchronized", "overlapped"}) +
                             draw_tree(random);
    std::vector<Death> deaths = draw_dead(random, procs, root);
    for (std::int32_t left = f; left > 0; --left) {
      const auto rank = static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(procs)));
      const Time time{static_cast<std::int64_t>(1 + random.below(60))};
      if (rank_at(rank) != root) deaths.push_back({rank_at(rank), time});
    }
    CAPTURE(spec);
    CAPTURE(i);
    REQUIRE(simulation(spec, procs, {}, root)->run(deaths).uncolored == 0);
  }
}

TEST_CASE("checked bears one death at any time, too") {
  Random random(13);
  for (int i = 0; i < 2000; ++i) {
    const auto procs = static_cast<std::int32_t>(3 + random.below(60));
    std::vector<Death> deaths = draw_dead(random, procs, rank_at(0));
    const auto victim =
        static_cast<std::int32_t>(1 + random.below(static_cast<std::uint64_t>(procs) - 1));
    deaths.push_back({rank_at(victim), Time{static_cast<std::int64_t>(random.below(50))}});
    const std::string spec =
        "corrected-tree:start=" + one_of(random, {"synchronized", "overlapped"}) +
        draw_tree(random);
    CAPTURE(spec);
    CAPTURE(i);
    REQUIRE(simulation(spec, procs)->run(deaths).uncolored == 0);
  }
}

TEST_CASE(
    "the promises are not too small: one death more, at a bad time, leaves somebody uncolored") {
  // 9 is dead, so 9 to 12 are a gap. Its neighbors 8 and 13 send one message to each side and die,
  // and those who hear of them stop there.
  const std::string tree = "corrected-tree:numbering=in-order,correction=";
  const Time start = *simulation(tree + "checked", 16)->run({}).correction_start;
  const auto dying = [&](const std::vector<int>& ranks) {
    std::vector deaths{Death{rank_at(9), Time{0}}};
    for (const int rank : ranks) deaths.push_back({rank_at(rank), start + 2});
    return deaths;
  };
  CHECK(simulation(tree + "checked", 16)->run(dying({8})).uncolored == 0);
  CHECK(simulation(tree + "checked", 16)->run(dying({13})).uncolored == 0);
  CHECK(simulation(tree + "checked", 16)->run(dying({8, 13})).uncolored > 0);
  CHECK(simulation(tree + "failure-proof,f=2", 16)->run(dying({8, 13})).uncolored == 0);
  CHECK(simulation(tree + "failure-proof,f=3", 16)->run(dying({8, 13, 14})).uncolored == 0);
  CHECK(simulation(tree + "delayed", 16)->run(dying({})).uncolored == 0);
  CHECK(simulation(tree + "delayed", 16)->run(dying({8})).uncolored > 0);
}

TEST_CASE("delayed colors everybody, whoever was dead before, however short the delay") {
  Random random(14);
  for (int i = 0; i < 3000; ++i) {
    const auto procs = static_cast<std::int32_t>(1 + random.below(120));
    const std::string spec =
        "corrected-tree:correction=delayed,delay=" + std::to_string(random.below(20)) +
        ",start=" + one_of(random, {"synchronized", "overlapped", "overlapped,early=abstain"}) +
        draw_tree(random);
    CAPTURE(spec);
    CAPTURE(i);
    REQUIRE(simulation(spec, procs)->run(draw_dead(random, procs, rank_at(0))).uncolored == 0);
  }
}

TEST_CASE("delayed, synchronized: without failures each process sends one correction, in one hop") {
  for (const LogP& model : {LogP{2, 1, 0}, LogP{5, 2, 0}, LogP{0, 3, 0}})
    for (const std::int32_t procs : {2, 3, 64, 1000}) {
      const Result result = simulation("corrected-tree:correction=delayed", procs, model)->run({});
      CHECK(result.totals.messages == procs - 1 + procs);
      CHECK(result.totals.quiescence - *result.correction_start == model.hop());
    }
}

TEST_CASE(
    "failure-proof, synchronized: without failures two more messages a witness than checked") {
  for (const std::int32_t f : {1, 3, 5, 7}) {
    const Result checked = simulation("corrected-tree", 256)->run({});
    const Result proof =
        simulation("corrected-tree:correction=failure-proof,f=" + std::to_string(f), 256)->run({});
    CHECK(proof.totals.messages - checked.totals.messages == 256 * (f - 1));
    CHECK(proof.totals.quiescence - checked.totals.quiescence == f - 1);
  }
}
