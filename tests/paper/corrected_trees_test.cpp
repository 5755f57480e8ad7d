// Sentences of "Corrected Trees for Reliable Group Communication" (PPoPP 2019), and what the
// simulator says of them. Where the paper errs, docs/reference/errata.md says how.
#include <cstdint>
#include <string>
#include <vector>

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

std::string checked(const std::string& tree) {
  return "corrected-tree:correction=checked,start=synchronized,tree=" + tree;
}

std::vector<Death> random_deaths(std::uint64_t seed, std::int64_t count, std::int32_t procs,
                                 Rank root) {
  const auto deaths = parse_faults(std::to_string(count), procs, root, seed);
  return std::get<std::vector<Death>>(deaths);
}

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

// Lemma 2, with its erratum.
Duration fault_free_correction(const LogP& m) {
  return 4 * m.overhead + m.latency + ceil_div(m.latency, m.overhead) * m.overhead;
}

const std::vector<LogP> models = {{2, 1, 0}, {1, 1, 0}, {5, 1, 0},  {3, 2, 0}, {4, 2, 0},
                                  {7, 3, 0}, {1, 2, 0}, {10, 4, 0}, {9, 5, 0}, {1, 7, 0}};

}  // namespace

TEST_CASE("fault-free quiescence of synchronized checked correction, L=2, o=1: the exact table") {
  struct Row {
    std::int32_t procs;
    std::int64_t quiescence[4];
  };
  const std::string trees[] = {"binomial", "kary,k=4", "lame,k=2", "optimal"};
  for (const Row& row : {Row{16, {24, 20, 20, 19}}, Row{100, {33, 29, 28, 25}},
                         Row{1024, {48, 41, 37, 32}}, Row{65536, {72, 62, 54, 45}}})
    for (int tree = 0; tree < 4; ++tree) {
      CAPTURE(row.procs);
      CAPTURE(trees[tree]);
      const Result result = simulation(checked(trees[tree]), row.procs)->run({});
      CHECK(result.totals.quiescence == Time{row.quiescence[tree]});
      CHECK(result.coloring_latency == Time{row.quiescence[tree] - 8});
      CHECK(result.correction_start == result.coloring_latency);
      CHECK(result.totals.messages == row.procs - 1 + std::int64_t{5} * row.procs);
      CHECK(result.uncolored == 0);
      CHECK(result.g_max == 0);
    }
}

TEST_CASE(
    "lemma 2 and corollary 1: fault-free, correction takes 4o+L+ceil(L/o)o, 3+ceil(L/o) each") {
  for (const LogP& model : models)
    for (const char* tree :
         {"binomial", "kary,k=4", "lame,k=2", "optimal", "kary,numbering=in-order"})
      for (const std::int32_t procs : {64, 1000}) {
        CAPTURE(model.latency);
        CAPTURE(model.overhead);
        const Result result = simulation(checked(tree), procs, model)->run({});
        CHECK(result.totals.quiescence - *result.correction_start == fault_free_correction(model));
        CHECK(result.totals.messages - (procs - 1) ==
              procs * (3 + ceil_div(model.latency, model.overhead)));
      }
}

TEST_CASE("lemma 3 bounds the correction of every one of thousands of runs with faults") {
  Random random(20190216);
  int runs = 0;
  const std::string trees[] = {"binomial",
                               "kary,k=4",
                               "lame,k=2",
                               "optimal",
                               "knomial,k=3",
                               "kary,k=2",
                               "binomial,numbering=in-order"};
  for (const std::string& tree : trees)
    for (const LogP& model : {LogP{2, 1, 0}, LogP{5, 1, 0}, LogP{3, 2, 0}})
      for (const std::int32_t procs : {512, 1023}) {
        const auto broadcasts = simulation(checked(tree), procs, model);
        for (int i = 0; i < 80; ++i) {
          const auto count = static_cast<std::int64_t>(random.below(60));
          const std::uint64_t seed = random.next();
          const Result result = broadcasts->run(random_deaths(seed, count, procs, rank_at(0)));
          const std::int32_t g = *result.g_max;
          if (g * 8 > procs) continue;  // the lemma says P >> g_max
          const Duration correction = result.totals.quiescence - *result.correction_start;
          INFO("resprout sim " << checked(tree) << " --procs " << procs << " --latency "
                               << model.latency << " --overhead " << model.overhead << " --faults "
                               << count << " --seed " << seed);
          REQUIRE(result.uncolored == 0);
          REQUIRE(correction >= fault_free_correction(model) + g * model.overhead);
          REQUIRE(correction <= fault_free_correction(model) + (2 * g + 1) * model.overhead);
          ++runs;
        }
      }
  CHECK(runs > 2000);
}

TEST_CASE("checked correction colors everybody, whatever failed before it, whoever is root") {
  Random random(31);
  for (int i = 0; i < 3000; ++i) {
    const auto procs = static_cast<std::int32_t>(1 + random.below(random.chance(1, 2) ? 12 : 200));
    const Rank root =
        rank_at(static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(procs))));
    const auto count = static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(procs)));
    const std::uint64_t seed = random.next();
    const std::string starts[] = {"synchronized", "overlapped", "overlapped,early=abstain"};
    const std::string trees[] = {"binomial", "kary,k=3", "knomial,k=4", "lame,k=3", "optimal"};
    const std::string spec = "corrected-tree:correction=checked,start=" + starts[random.below(3)] +
                             ",tree=" + trees[random.below(5)];
    const LogP& model = models[random.below(models.size())];
    INFO("resprout sim " << spec << " --procs " << procs << " --latency " << model.latency
                         << " --overhead " << model.overhead << " --root " << index(root)
                         << " --faults " << count << " --seed " << seed);
    const Result result =
        simulation(spec, procs, model, root)->run(random_deaths(seed, count, procs, root));
    REQUIRE(result.uncolored == 0);
  }
}

TEST_CASE("section 3.2.1: a k-ary tree with k-1 failures has no gap longer than k-1") {
  Random random(77);
  for (std::int32_t k = 2; k <= 5; ++k)
    for (const std::int32_t procs : {k + 1, 16, 40, 85, 100}) {
      const std::string spec = "corrected-tree:correction=none,tree=kary,k=" + std::to_string(k);
      const auto broadcasts = simulation(spec, procs);
      std::int32_t longest = 0;
      for (int i = 0; i < 300; ++i) {
        const Result result =
            broadcasts->run(random_deaths(random.next(), k - 1, procs, rank_at(0)));
        REQUIRE(*result.g_max <= k - 1);
        longest = std::max(longest, *result.g_max);
      }
      CHECK(longest > 0);
    }
}
