// FTCO with in-band detection in its model of steps.
#include <utility>

#include "protocols/ftco_in_band/ftco_in_band.hpp"
#include "registry/ftco.hpp"
#include "sim/logp/reduction_metrics.hpp"
#include "sim/logp/simulations.hpp"
#include "sim/steps/engine.hpp"
#include "sim/steps/published_polling.hpp"
#include "sim/steps/relatives.hpp"

namespace resprout::sim {
namespace {

using protocols::FtcoInBand;
using protocols::FtcoInBandConfig;

FtcoInBandConfig config_of(const Machinery& machinery) {
  return {registry::ftco_config(machinery.spec, machinery.procs, machinery.root),
          {machinery.model.latency, machinery.model.overhead},
          machinery.spec.service};
}

topology::RangeForest forest_of(const FtcoInBandConfig& config) {
  return protocols::FtcoAllreduce(config.collective, rank_at(0)).forest(0);
}

// Of those who were alive to the end.
void add_totals(const StepTotals& totals, Result& result) {
  result.totals = {totals.messages, totals.last_finish, totals.digest};
  result.completion_latency = Time{std::max<Duration>(totals.last_finish - totals.last_entry, 0)};
  if (totals.first_finish != never) result.output_spread = totals.last_finish - totals.first_finish;
  result.longest_queue = totals.longest_queue;
  result.keepalives = totals.keepalives;
  result.false_suspicions = totals.false_suspicions;
}

class InBandSimulation final : public Simulation {
 public:
  explicit InBandSimulation(const Machinery& machinery)
      : config_(config_of(machinery)),
        relatives_(relatives_of(forest_of(config_))),
        entries_(machinery.entries),
        engine_(machinery.model.latency, machinery.model.overhead, machines()) {}

 private:
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
    add_totals(totals, result);
    for (std::int32_t i = 0; i < procs; ++i) {
      const Rank rank = rank_at(i);
      if (!engine_.is_alive(rank)) continue;
      if (metrics.delivered(rank) == never) ++result.uncolored;
      if (metrics.contributors(rank) != 0) result.contributors = metrics.contributors(rank);
    }
    return result;
  }

  FtcoInBandConfig config_;
  std::vector<topology::RangeRelatives> relatives_;
  Entries entries_;
  StepEngine<FtcoInBand, ReductionMetrics> engine_;
};

// REQUIRES: nobody dies.
class PublishedPollingSimulation final : public Simulation {
 public:
  explicit PublishedPollingSimulation(const Machinery& machinery)
      : procs_(machinery.procs), entries_(machinery.entries), polling_(config_of(machinery)) {}

 private:
  Result do_run(std::span<const Death>, std::uint64_t seed) override {
    Result result;
    result.contributors = procs_;
    add_totals(polling_.run(entries_.draw(procs_, seed)), result);
    return result;
  }

  std::int32_t procs_;
  Entries entries_;
  PublishedPolling polling_;
};

}  // namespace

Made make_in_band(const Machinery& machinery) {
  if (machinery.spec.polling == registry::Polling::simulated)
    return std::make_unique<PublishedPollingSimulation>(machinery);
  return std::make_unique<InBandSimulation>(machinery);
}

}  // namespace resprout::sim
