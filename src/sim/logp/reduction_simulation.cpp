// The fault-tolerant allreduces and reduce on the LogP machine.
#include "protocols/agreement/agreement.hpp"
#include "protocols/ftco_allreduce/ftco_allreduce.hpp"
#include "protocols/native_until_loss/native_until_loss.hpp"
#include "registry/ftco.hpp"
#include "sim/logp/reduction_metrics.hpp"
#include "sim/logp/runner.hpp"
#include "sim/logp/simulations.hpp"

namespace resprout::sim {
namespace {

using protocols::Agreement;
using protocols::AgreementConfig;
using protocols::FtcoAllreduce;
using protocols::FtcoAllreduceConfig;
using protocols::NativeUntilLoss;
using protocols::NativeUntilLossConfig;

template <Machine M, typename Config>
class ReductionSimulation final : public Simulation {
 public:
  ReductionSimulation(const Machinery& machinery, const Config& config)
      : config_(config), runner_(machinery) {
    runner_.set_detection(detection_delay(machinery.model));
  }

 private:
  Result do_run(std::span<const Death> deaths, std::uint64_t seed) override {
    ReductionMetrics metrics(config_.procs);
    Result result;
    result.totals = runner_.run(config_, deaths, metrics, result.trace, seed);
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

  Config config_;
  Runner<M, ReductionMetrics> runner_;
};

}  // namespace

Made make_reduction(const Machinery& machinery) {
  return std::make_unique<ReductionSimulation<FtcoAllreduce, FtcoAllreduceConfig>>(
      machinery, registry::ftco_config(machinery.spec, machinery.procs, machinery.root));
}

Made make_native_until_loss(const Machinery& machinery) {
  return std::make_unique<ReductionSimulation<NativeUntilLoss, NativeUntilLossConfig>>(
      machinery, NativeUntilLossConfig(machinery.procs, machinery.spec.k));
}

Made make_agree(const Machinery& machinery) {
  return std::make_unique<ReductionSimulation<Agreement, AgreementConfig>>(
      machinery, AgreementConfig{machinery.procs, machinery.spec.k});
}

}  // namespace resprout::sim
