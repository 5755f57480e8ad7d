// FTCO with in-band detection in its model of steps.
#include <utility>

#include "protocols/ftco_in_band/ftco_in_band.hpp"
#include "registry/ftco.hpp"
#include "sim/logp/reduction_metrics.hpp"
#include "sim/logp/simulations.hpp"
#include "sim/steps/engine.hpp"

namespace resprout::sim {
namespace {

using protocols::FtcoInBand;
using protocols::FtcoInBandConfig;

class InBandSimulation final : public Simulation {
 public:
  explicit InBandSimulation(const Machinery& machinery)
      : config_{registry::ftco_config(machinery.spec, machinery.procs, machinery.root),
                {machinery.model.latency, machinery.model.overhead},
                machinery.spec.service},
        relatives_(relatives()),
        entries_(machinery.entries),
        engine_(machinery.model.latency, machinery.model.overhead, machines()) {}

 private:
  // Every machine asks for those of many others.
  std::vector<topology::RangeRelatives> relatives() const {
    const auto forest = protocols::FtcoAllreduce(config_.collective, rank_at(0)).forest(0);
    std::vector<topology::RangeRelatives> all;
    all.reserve(static_cast<std::size_t>(forest.end));
    for (std::int32_t rank = 0; rank < forest.end; ++rank) all.push_back(forest.relatives(rank));
    return all;
  }

  std::vector<FtcoInBand> machines() {
    config_.collective.relatives = relatives_.data();
    std::vector<FtcoInBand> all;
    all.reserve(static_cast<std::size_t>(config_.collective.procs));
    for (std::int32_t i = 0; i < config_.collective.procs; ++i)
      all.emplace_back(config_, rank_at(i));
    return all;
  }

  Result do_run(std::span<const Death> deaths, std::uint64_t seed) override {
    const std::int32_t procs = config_.collective.procs;
    config_.seed = seed;
    ReductionMetrics metrics(procs);
    const std::vector<Time> entries = entries_.draw(procs, seed);
    const StepTotals totals = engine_.run(deaths, entries, metrics);
    Result result;
    result.totals = {totals.messages, totals.last_finish, totals.digest};
    for (std::int32_t i = 0; i < procs; ++i) {
      const Rank rank = rank_at(i);
      if (!engine_.is_alive(rank)) continue;
      if (metrics.delivered(rank) == never) ++result.uncolored;
      if (metrics.contributors(rank) != 0) result.contributors = metrics.contributors(rank);
    }
    result.completion_latency = Time{std::max<Duration>(totals.last_finish - totals.last_entry, 0)};
    if (totals.first_finish != never)
      result.output_spread = totals.last_finish - totals.first_finish;
    result.longest_queue = totals.longest_queue;
    result.keepalives = totals.keepalives;
    result.false_suspicions = totals.false_suspicions;
    return result;
  }

  FtcoInBandConfig config_;
  std::vector<topology::RangeRelatives> relatives_;
  Entries entries_;
  StepEngine<FtcoInBand, ReductionMetrics> engine_;
};

}  // namespace

Made make_in_band(const Machinery& machinery) {
  return std::make_unique<InBandSimulation>(machinery);
}

}  // namespace resprout::sim
