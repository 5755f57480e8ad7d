// The fault-tolerant allreduce and reduce on the LogP machine.
#include "protocols/ftco_allreduce/ftco_allreduce.hpp"
#include "registry/ftco.hpp"
#include "sim/logp/reduction_metrics.hpp"
#include "sim/logp/runner.hpp"
#include "sim/logp/simulations.hpp"

namespace resprout::sim {
namespace {

using protocols::FtcoAllreduce;
using protocols::FtcoAllreduceConfig;

class ReductionSimulation final : public Simulation {
 public:
  explicit ReductionSimulation(const Machinery& machinery)
      : config_(registry::ftco_config(machinery.spec, machinery.procs, machinery.root)),
        runner_(machinery) {
    runner_.set_detection(detection_delay(machinery.model));
  }

 private:
  Result do_run(std::span<const Death> deaths, std::uint64_t) override {
    ReductionMetrics metrics(config_.procs);
    Result result;
    result.totals = runner_.run(config_, deaths, metrics, result.trace);
    result.completion_latency = Time{0};
    for (std::int32_t i = 0; i < config_.procs; ++i) {
      const Rank rank = rank_at(i);
      if (!runner_.is_alive(rank)) continue;
      if (metrics.delivered(rank) == never)
        ++result.uncolored;
      else
        result.completion_latency = std::max(*result.completion_latency, metrics.delivered(rank));
      if (metrics.contributors(rank) != 0) result.contributors = metrics.contributors(rank);
    }
    return result;
  }

  FtcoAllreduceConfig config_;
  Runner<FtcoAllreduce, ReductionMetrics> runner_;
};

}  // namespace

Made make_reduction(const Machinery& machinery) {
  return std::make_unique<ReductionSimulation>(machinery);
}

}  // namespace resprout::sim
