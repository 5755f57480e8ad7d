// How fast the LogP engine is: messages a second of broadcasts of 65536 processes, on one core.
//
// Prints the median of several runs. Measured in time of this process, so that others who use the
// machine do not count.
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <vector>

#include "protocols/corrected_tree/corrected_tree.hpp"
#include "sim/logp/broadcast_metrics.hpp"
#include "sim/logp/engine.hpp"

namespace {

using namespace resprout;

double seconds_used() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

void measure(const char* name, const protocols::CorrectedTreeConfig& config) {
  sim::Engine<protocols::CorrectedTree, sim::BroadcastMetrics> engine({}, config.procs);
  std::vector<double> millions;
  sim::Totals totals;
  for (int run = 0; run < 21; ++run) {
    const double begin = seconds_used();
    sim::BroadcastMetrics metrics(config.procs, config.root);
    totals =
        engine.run([&](Rank rank) { return protocols::CorrectedTree(config, rank); }, {}, metrics);
    const double seconds = seconds_used() - begin;
    millions.push_back(static_cast<double>(totals.messages) / seconds / 1e6);
  }
  std::sort(millions.begin(), millions.end());
  std::printf("%-40s %9lld messages, %6.1f million/s (min %.1f, max %.1f)\n", name,
              static_cast<long long>(totals.messages), millions[millions.size() / 2],
              millions.front(), millions.back());
}

}  // namespace

int main() {
  using topology::Numbering;
  using topology::Shape;
  const std::int32_t procs = 65536;
  protocols::CorrectedTreeConfig config{
      .tree = topology::Tree(Shape::binomial, Numbering::interleaved, 2, procs),
      .procs = procs,
      .correction = protocols::Correction::checked,
      .start = protocols::StartMode::synchronized,
      .correction_start = {64}};
  measure("binomial, synchronized checked", config);
  config.tree = topology::Tree(Shape::kary, Numbering::interleaved, 4, procs);
  measure("4-ary, synchronized checked", config);
  config.tree = topology::Tree(Shape::binomial, Numbering::interleaved, 2, procs);
  config.start = protocols::StartMode::overlapped;
  measure("binomial, overlapped checked", config);
  config.correction = protocols::Correction::optimized_opportunistic;
  measure("binomial, overlapped opportunistic", config);
}
