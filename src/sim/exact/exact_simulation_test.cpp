// See simulation.hpp: without a digest a simulation measures what it measures with one.
#include <string>
#include <vector>

#include "core/random.hpp"
#include "doctest/doctest.h"
#include "sim/logp/simulation.hpp"

using namespace resprout;
using namespace resprout::sim;

namespace {

// Those of the first half are computed, if all deaths are at the beginning.
constexpr const char* specs[] = {
    "corrected-tree",
    "corrected-tree:tree=lame,correction=opportunistic,d=3",
    "corrected-tree:tree=optimal,correction=optimized-opportunistic,d=2",
    "corrected-tree:tree=kary,k=3,numbering=in-order",
    "corrected-tree:start=overlapped",
    "corrected-tree:correction=failure-proof",
    "corrected-gossip",
    "ftco-reduce",
};

std::unique_ptr<Simulation> simulation(const Machinery& machinery) {
  auto made = Simulation::make(machinery);
  REQUIRE(std::holds_alternative<std::unique_ptr<Simulation>>(made));
  return std::get<std::unique_ptr<Simulation>>(std::move(made));
}

std::vector<Death> random_deaths(Random& random, std::int32_t procs, Time last) {
  const auto count = static_cast<std::uint64_t>(procs);
  std::vector<Death> deaths;
  for (auto left = random.below(count / 4 + 2); left > 0; --left)
    deaths.push_back({rank_at(static_cast<std::int32_t>(random.below(count))),
                      Time{static_cast<std::int64_t>(
                          random.below(static_cast<std::uint64_t>(last.ticks) + 1))}});
  return deaths;
}

void require_equal(const Result& ours, const Result& theirs) {
  REQUIRE(ours.totals.messages == theirs.totals.messages);
  REQUIRE(ours.totals.quiescence == theirs.totals.quiescence);
  REQUIRE(ours.uncolored == theirs.uncolored);
  REQUIRE(ours.coloring_latency == theirs.coloring_latency);
  REQUIRE(ours.correction_start == theirs.correction_start);
  REQUIRE(ours.g_max == theirs.g_max);
  REQUIRE(ours.contributors == theirs.contributors);
  REQUIRE(ours.completion_latency == theirs.completion_latency);
}

}  // namespace

TEST_CASE("all but the digest is measured without a digest too, whatever fails and when") {
  Random random(1);
  for (int kind = 0; kind < 1500; ++kind) {
    const char* const spec = specs[random.below(std::size(specs))];
    Machinery machinery{std::get<registry::Spec>(registry::parse(spec)),
                        static_cast<std::int32_t>(1 + random.below(300))};
    machinery.model = {static_cast<Duration>(random.below(9)),
                       static_cast<Duration>(1 + random.below(4)),
                       static_cast<Duration>(random.below(12))};
    machinery.root = rank_at(
        static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(machinery.procs))));
    const auto with = simulation(machinery);
    machinery.wants_digest = false;
    const auto without = simulation(machinery);
    for (std::uint64_t run = 0; run < 6; ++run) {  // the engine's runs between computed ones
      const Time last{random.chance(2, 3) ? 0 : 60};
      const auto deaths = random_deaths(random, machinery.procs, last);
      CAPTURE(spec);
      CAPTURE(kind);
      CAPTURE(run);
      require_equal(without->run(deaths, run), with->run(deaths, run));
    }
  }
}

TEST_CASE("what is refused with a digest is refused without one, in the same words") {
  const auto refusal = [](const char* spec, std::int32_t procs, bool wants_digest) {
    Machinery machinery{std::get<registry::Spec>(registry::parse(spec)), procs, {1 << 30, 1, 0}};
    machinery.wants_digest = wants_digest;
    const auto made = Simulation::make(machinery);
    REQUIRE(std::holds_alternative<std::string>(made));
    return std::get<std::string>(made);
  };
  CHECK(refusal("corrected-tree", 0, false) == refusal("corrected-tree", 0, true));
  const char* const optimal = "corrected-tree:tree=optimal";  // L is too much for it
  CHECK(refusal(optimal, 1 << 26, false) == refusal(optimal, 1 << 26, true));
}

TEST_CASE("with a trace the digest is there, asked for or not") {
  Machinery machinery{std::get<registry::Spec>(registry::parse("corrected-tree")), 64};
  const std::uint64_t digest = simulation(machinery)->run({}).totals.digest;
  machinery.wants_trace = true;
  machinery.wants_digest = false;
  const Result traced = simulation(machinery)->run({});
  CHECK(traced.totals.digest == digest);
  CHECK(traced.trace.messages.size() == static_cast<std::size_t>(traced.totals.messages));
}
