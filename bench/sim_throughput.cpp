// How fast the LogP engine is, on one core: messages a second of one broadcast after the other, and
// the memory that the engine needs for it.
//
//   sim_throughput            65536 and 2^20 processes
//   sim_throughput 24         a synchronized checked binomial broadcast of 2^24 processes, once
//
// Prints the median of several runs. Measured in time of this process, so that others who use the
// machine do not count; their use of its caches does.
#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

#include <sys/resource.h>

#include "protocols/corrected_tree/corrected_tree.hpp"
#include "sim/logp/broadcast_metrics.hpp"
#include "sim/logp/engine.hpp"

namespace {

using namespace resprout;

double seconds_used() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

// Of all that ran until now.
double gibibytes_at_most() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / (1 << 20);
}

template <protocols::RingCorrection C>
void measure(const char* name, const protocols::CorrectedTreeConfig& config, int runs) {
  using Tree = protocols::CorrectedTreeOf<C>;
  sim::Engine<Tree, sim::BroadcastMetrics> engine({}, config.procs);
  std::vector<double> millions;
  sim::Totals totals;
  for (int run = 0; run < runs; ++run) {
    const double begin = seconds_used();
    sim::BroadcastMetrics metrics(config.procs, config.root);
    totals = engine.run([&](Rank rank) { return Tree(config, rank); }, {}, metrics);
    const double seconds = seconds_used() - begin;
    millions.push_back(static_cast<double>(totals.messages) / seconds / 1e6);
  }
  std::sort(millions.begin(), millions.end());
  std::printf("P=2^%-2d %-36s %9lld messages, %5.1f million/s (min %.1f, max %.1f), %.2f GiB\n",
              std::countr_zero(static_cast<std::uint32_t>(config.procs)), name,
              static_cast<long long>(totals.messages), millions[millions.size() / 2],
              millions.front(), millions.back(), gibibytes_at_most());
}

// L = 2, o = 1, so that a binomial tree takes four ticks a level.
protocols::CorrectedTreeConfig synchronized_checked(int levels) {
  const std::int32_t procs = 1 << levels;
  return {
      .tree = topology::Tree(topology::Shape::binomial, topology::Numbering::interleaved, 2, procs),
      .procs = procs,
      .correction = {.kind = protocols::Correction::checked},
      .start = protocols::StartMode::synchronized,
      .correction_start = {4 * levels}};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) {
    const int levels = static_cast<int>(std::clamp(std::strtol(argv[1], nullptr, 10), 1L, 26L));
    measure<protocols::Checked>("binomial, synchronized checked", synchronized_checked(levels), 1);
    return 0;
  }
  const int runs = 21;
  auto config = synchronized_checked(16);
  const topology::Tree binomial = config.tree;
  measure<protocols::Checked>("binomial, synchronized checked", config, runs);
  config.tree =
      topology::Tree(topology::Shape::kary, topology::Numbering::interleaved, 4, config.procs);
  measure<protocols::Checked>("4-ary, synchronized checked", config, runs);
  config.tree = binomial;
  config.start = protocols::StartMode::overlapped;
  measure<protocols::Checked>("binomial, overlapped checked", config, runs);
  config.correction.kind = protocols::Correction::optimized_opportunistic;
  measure<protocols::OptimizedOpportunistic>("binomial, overlapped opportunistic", config, runs);
  measure<protocols::Checked>("binomial, synchronized checked", synchronized_checked(20), 5);
}
