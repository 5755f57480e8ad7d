// Corrected reduce on the LogP machine.
#include "protocols/corrected_reduce/corrected_reduce.hpp"
#include "sim/logp/corrected_tree_config.hpp"
#include "sim/logp/runner.hpp"
#include "sim/logp/simulations.hpp"
#include "sim/logp/union_metrics.hpp"

namespace resprout::sim {
namespace {

using protocols::CorrectedReduce;
using protocols::CorrectedReduceConfig;

class CorrectedReduceSimulation final : public Simulation {
 public:
  CorrectedReduceSimulation(const Machinery& machinery, registry::OwnedTree tree)
      : growth_(std::move(tree.growth)),
        config_{.tree = tree.tree,
                .procs = machinery.procs,
                .root = machinery.root,
                .correction = correction_rules(machinery),
                .tree_time = dissemination_end(tree.tree, machinery.model).ticks,
                .hop = machinery.model.hop(),
                .spacing = machinery.model.spacing()},
        runner_(machinery) {}

 private:
  Result do_run(std::span<const Death> deaths, std::uint64_t seed) override {
    UnionMetrics metrics(config_.procs);
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
    }
    if (!runner_.is_alive(config_.root)) return result;
    const std::vector<bool> is_in = metrics.contributors(config_.root);
    result.contributors = static_cast<std::int32_t>(std::count(is_in.begin(), is_in.end(), true));
    return result;
  }

  std::unique_ptr<const topology::Growth> growth_;
  CorrectedReduceConfig config_;
  Runner<CorrectedReduce, UnionMetrics> runner_;
};

}  // namespace

Made make_corrected_reduce(const Machinery& machinery, registry::OwnedTree tree) {
  return std::make_unique<CorrectedReduceSimulation>(machinery, std::move(tree));
}

}  // namespace resprout::sim
