// Table 1 of "Corrected Trees for Reliable Group Communication" (PPoPP 2019), from a fiftieth of
// its two million broadcasts: "Cost of correction under faults aggregated for all tree types".
//
// What is tested of a percentile of the paper is that ours is at most one unit away. A sample does
// not say that for certain. Of n independent values above whose 99 % percentile are at most 1 % of
// all, about n/100 are above it, give or take the standard deviation of a binomial distribution;
// more than three of these off comes by chance in one of several hundred samples. The seeds are
// fixed, so this sample is one or is not.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "doctest/doctest.h"
#include "sim/logp/simulation.hpp"

using namespace resprout;
using namespace resprout::sim;

namespace {

constexpr std::int32_t procs = 65536;
constexpr std::uint64_t broadcasts = 2000;  // of each tree and fault rate
const std::string trees[] = {"binomial", "kary,k=4", "lame,k=2", "optimal"};

// L=2, o=1.
std::unique_ptr<Simulation> simulation(const std::string& tree) {
  const auto spec =
      registry::parse("corrected-tree:correction=checked,start=synchronized,tree=" + tree);
  Machinery machinery{std::get<registry::Spec>(spec), procs};
  machinery.wants_digest = false;
  return std::get<std::unique_ptr<Simulation>>(Simulation::make(machinery));
}

std::int64_t correction_time(const Result& result) {
  return result.totals.quiescence - *result.correction_start;
}

struct Sample {
  std::string rate;
  std::vector<std::int64_t> g_max;
  std::vector<std::int64_t> correction;  // L_SCC
};

// All trees together.
Sample sample(const std::string& rate) {
  Sample sample{rate, {}, {}};
  auto faults = std::get<Faults>(Faults::parse(rate, procs, rank_at(0)));
  std::uint64_t seed = 0;
  for (const std::string& tree : trees) {
    const auto broadcast = simulation(tree);
    for (std::uint64_t i = 0; i < broadcasts; ++i) {
      const Result result = broadcast->run(faults.of(++seed));
      REQUIRE(result.uncolored == 0);
      sample.g_max.push_back(*result.g_max);
      sample.correction.push_back(correction_time(result));
    }
  }
  return sample;
}

// Of all fault rates of the table.
const std::vector<Sample>& samples() {
  static const std::vector<Sample> all = {sample("0.01%"), sample("0.1%"), sample("1%"),
                                          sample("2%"), sample("4%")};
  return all;
}

// Whether `values` may be drawn from what has this percentile within one unit of the paper's:
// at most `share` of all are above the greatest such value, and at least that are not below the
// least.
void check_percentile(const std::vector<std::int64_t>& values, double share, std::int64_t papers) {
  const auto size = static_cast<double>(values.size());
  const double chance = 3 * std::sqrt(size * share * (1 - share));
  const auto above = std::count_if(values.begin(), values.end(),
                                   [&](std::int64_t value) { return value > papers + 1; });
  const auto not_below = std::count_if(values.begin(), values.end(),
                                       [&](std::int64_t value) { return value >= papers - 1; });
  CAPTURE(papers);
  CAPTURE(share);
  CHECK(static_cast<double>(above) <= size * share + chance);
  CHECK(static_cast<double>(not_below) >= size * share - chance);
}

}  // namespace

TEST_CASE("Table 1: cost of correction under faults, aggregated for all tree types") {
  struct Row {
    std::int64_t g_max_99, g_max_999, correction_99, correction_999;
  };
  constexpr Row rows[] = {
      {1, 2, 10, 12}, {2, 3, 12, 13}, {5, 7, 16, 19}, {8, 11, 19, 24}, {13, 20, 26, 34}};
  for (std::size_t i = 0; i < std::size(rows); ++i) {
    const Sample& seen = samples()[i];
    CAPTURE(seen.rate);
    check_percentile(seen.g_max, 0.01, rows[i].g_max_99);
    check_percentile(seen.g_max, 0.001, rows[i].g_max_999);
    check_percentile(seen.correction, 0.01, rows[i].correction_99);
    check_percentile(seen.correction, 0.001, rows[i].correction_999);
  }
}

// About 0.9 % here, which a sample of 40,000 can tell from 1 %.
TEST_CASE("section 4.3: less than 1 % had g_max > 10, the vast majority of them at 4 % of faults") {
  std::int64_t simulations = 0;
  std::int64_t large = 0;
  std::int64_t large_at_last = 0;
  for (const Sample& seen : samples()) {
    simulations += static_cast<std::int64_t>(seen.g_max.size());
    large_at_last = std::count_if(seen.g_max.begin(), seen.g_max.end(),
                                  [](std::int64_t gap) { return gap > 10; });
    large += large_at_last;
  }
  CHECK(large > 0);
  CHECK(100 * large < simulations);
  CHECK(10 * large_at_last > 9 * large);
}

TEST_CASE("Table 1: with no faults g_max = 0 and L_SCC = 8") {
  for (const std::string& tree : trees) {
    CAPTURE(tree);
    const Result result = simulation(tree)->run({});
    CHECK(result.g_max == 0);
    CHECK(correction_time(result) == 8);
  }
}
