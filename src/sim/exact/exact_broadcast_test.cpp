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

Case random_case(Random& random, std::int32_t procs_max) {
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
  if (tree.ends_with("=")) tree += std::to_string(2 + below(random, 6));
  Case one;
  one.spec = "corrected-tree:start=synchronized,tree=" + tree +
             ",correction=" + pick(random, corrections) +
             ",d=" + std::to_string(1 + below(random, 9));
  if (random.chance(1, 10)) one.spec += std::to_string(below(random, 10));  // d of 10 and more
  Machinery& machinery = one.machinery;
  machinery.spec = std::get<registry::Spec>(registry::parse(one.spec));
  machinery.procs = 1 + below(random, procs_max);
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
int compare(std::uint64_t seed, std::int32_t procs_max, int kinds, int runs) {
  Random random(seed);
  int compared = 0;
  for (int kind = 0; kind < kinds; ++kind) {
    const Case one = random_case(random, procs_max);
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
  CHECK(compare(1, 40, 12000, 8) > 60000);
}

TEST_CASE("what is computed is what the engine simulates, on rings of hundreds") {
  CHECK(compare(2, 600, 4000, 12) > 40000);
}

TEST_CASE("what is computed is what the engine simulates, on rings of thousands") {
  CHECK(compare(3, 9000, 100, 6) > 400);
}
