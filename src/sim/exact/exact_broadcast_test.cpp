// See exact_broadcast.hpp: it says what the engine says, on random broadcasts of all kinds.
#include "sim/exact/exact_broadcast.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "core/random.hpp"
#include "doctest/doctest.h"

using namespace resprout;
using namespace resprout::sim;

namespace {

std::int32_t below(Random& random, std::int32_t bound) {
  return static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(bound)));
}

template <typename T, std::size_t N>
const T& pick(Random& random, const T (&values)[N]) {
  return values[random.below(N)];
}

// A kind of broadcast, and what is needed to ask for it by hand.
struct Case {
  std::string spec;
  Machinery machinery;

  std::string command(const std::vector<Death>& deaths) const {
    std::string ranks;
    for (const Death& death : deaths) ranks += std::to_string(index(death.rank)) + ",";
    const LogP& model = machinery.model;
    return "resprout sim " + spec + " --procs " + std::to_string(machinery.procs) + " --latency " +
           std::to_string(model.latency) + " --overhead " + std::to_string(model.overhead) +
           " --gap " + std::to_string(model.gap) + " --root " +
           std::to_string(index(machinery.root)) + " --faults " + (ranks.empty() ? "none" : ranks) +
           " --format json";
  }
};

Case random_case(Random& random, std::int32_t procs_min, std::int32_t procs_max) {
  static constexpr const char* trees[] = {"binomial",
                                          "kary,k=",
                                          "knomial,k=",
                                          "lame,k=",
                                          "optimal",
                                          "binomial,numbering=in-order",
                                          "kary,numbering=in-order,k="};
  static constexpr const char* corrections[] = {"checked", "checked", "optimized-opportunistic",
                                                "opportunistic"};
  std::string tree = pick(random, trees);
  if (tree.ends_with('=')) tree += std::to_string(2 + below(random, 6));
  Case one;
  one.spec = "corrected-tree:start=synchronized,tree=" + tree +
             ",correction=" + pick(random, corrections) +
             ",d=" + std::to_string(1 + below(random, 9));
  if (random.chance(1, 10)) one.spec += std::to_string(below(random, 10));  // d of 10 and more
  Machinery& machinery = one.machinery;
  machinery.spec = std::get<registry::Spec>(registry::parse(one.spec));
  machinery.procs = procs_min + below(random, procs_max - procs_min + 1);
  machinery.model.overhead = 1 + below(random, 4);
  machinery.model.latency = below(random, random.chance(1, 8) ? 40 : 8);
  if (random.chance(1, 4)) machinery.model.gap = below(random, 8);
  if (random.chance(1, 2)) machinery.root = rank_at(below(random, machinery.procs));
  return one;
}

// Dead ones anywhere, or in a few runs on the ring.
std::vector<Death> random_deaths(Random& random, std::int32_t procs) {
  std::vector<Death> deaths;
  std::int32_t count = below(random, procs / (1 + below(random, 40)) + 1);
  const bool is_clustered = random.chance(1, 2);
  std::int32_t rank = 0;
  for (; count > 0; --count) {
    const bool goes_on = is_clustered && random.chance(3, 4);
    rank = goes_on ? (rank + 1 + below(random, 3)) % procs : below(random, procs);
    deaths.push_back({rank_at(rank), Time{0}});
  }
  return deaths;
}

std::string text(const Result& result) {
  const auto number = [](const auto& value) {
    return value ? std::to_string(static_cast<std::int64_t>(*value)) : std::string("nothing");
  };
  const auto ticks = [](const std::optional<Time>& time) {
    return time ? std::to_string(time->ticks) : std::string("nothing");
  };
  return "coloring " + ticks(result.coloring_latency) + ", quiescence " +
         ticks(result.totals.quiescence) + ", correction from " + ticks(result.correction_start) +
         ", messages " + std::to_string(result.totals.messages) + ", g_max " +
         number(result.g_max) + ", uncolored " + std::to_string(result.uncolored);
}

// Runs `kinds` random kinds of broadcast, `runs` times each; how many of them the shortcut took.
int compare(std::uint64_t seed, std::int32_t procs_min, std::int32_t procs_max, int kinds,
            int runs) {
  Random random(seed);
  int compared = 0;
  for (int kind = 0; kind < kinds; ++kind) {
    const Case one = random_case(random, procs_min, procs_max);
    const auto exact = ExactBroadcast::make(one.machinery);
    if (!exact) continue;
    auto made = Simulation::make(one.machinery);
    const auto& simulation = std::get<std::unique_ptr<Simulation>>(made);
    for (int run = 0; run < runs; ++run, ++compared) {
      std::vector<Death> deaths = random_deaths(random, one.machinery.procs);
      const bool spares_root = random.chance(31, 32);
      if (spares_root)
        std::erase_if(deaths, [&](const Death& d) { return d.rank == one.machinery.root; });
      const std::string ours = text(exact->run(deaths));
      const std::string theirs = text(simulation->run(deaths));
      if (ours == theirs) continue;
      INFO("replay: " << one.command(deaths));
      REQUIRE(ours == theirs);
    }
  }
  return compared;
}

}  // namespace

TEST_CASE("what is computed is what the engine simulates, on small rings") {
  CHECK(compare(1, 1, 40, 12000, 8) > 60000);
}

TEST_CASE("what is computed is what the engine simulates, on rings of hundreds") {
  CHECK(compare(2, 40, 600, 3000, 12) > 30000);
}

TEST_CASE("what is computed is what the engine simulates, on rings of several hundreds") {
  CHECK(compare(3, 256, 900, 2500, 12) > 25000);
}

TEST_CASE("what is computed is what the engine simulates, on rings of thousands") {
  CHECK(compare(4, 2000, 9000, 100, 6) > 500);
}

TEST_CASE("what is computed is what the engine simulates, at the size of the paper's Table 1") {
  for (const char* tree : {"binomial", "kary,k=4", "lame,k=2", "optimal"}) {
    const std::string spec = "corrected-tree:correction=checked,tree=" + std::string(tree);
    const Machinery machinery{std::get<registry::Spec>(registry::parse(spec)), 65536};
    const auto exact = ExactBroadcast::make(machinery);
    REQUIRE(exact != nullptr);
    auto made = Simulation::make(machinery);
    const auto& simulation = std::get<std::unique_ptr<Simulation>>(made);
    FaultDraw faults(65536, rank_at(0));
    for (const std::int64_t count : {0, 7, 66, 655, 2621}) {
      CAPTURE(spec);
      CAPTURE(count);  // replay: resprout sim SPEC --procs 65536 --faults COUNT --seed 1
      const auto deaths = faults.draw(count, 1);
      REQUIRE(text(exact->run(deaths)) == text(simulation->run(deaths)));
    }
  }
}

TEST_CASE("what the shortcut is not for is left to the engine") {
  const auto takes = [](const char* spec, std::int32_t procs, const LogP& model = {}) {
    const Machinery machinery{std::get<registry::Spec>(registry::parse(spec)), procs, model};
    return ExactBroadcast::make(machinery) != nullptr;
  };
  CHECK(takes("corrected-tree", 7));
  CHECK_FALSE(takes("corrected-tree", 6));
  CHECK(takes("corrected-tree", 64, {2, 1, 3}));
  CHECK_FALSE(takes("corrected-tree", 64, {2, 1, 4}));
  CHECK_FALSE(takes("corrected-tree:start=overlapped", 64));
  CHECK_FALSE(takes("corrected-tree:correction=none", 64));
  CHECK_FALSE(takes("reliable-broadcast", 64));
  CHECK(ExactBroadcast::supports(std::vector{Death{rank_at(1), Time{0}}}));
  CHECK_FALSE(ExactBroadcast::supports(std::vector{Death{rank_at(1), Time{1}}}));
}
