#include "sim/logp/simulation.hpp"

#include <utility>

#include "protocols/corrected_tree/corrected_tree.hpp"
#include "protocols/ftco_allreduce/ftco_allreduce.hpp"
#include "protocols/reliable_broadcast/reliable_broadcast.hpp"
#include "registry/trees.hpp"
#include "sim/logp/broadcast_metrics.hpp"
#include "sim/logp/dissemination.hpp"
#include "sim/logp/reduction_metrics.hpp"

namespace resprout::sim {
namespace {

using protocols::CorrectedTree;
using protocols::CorrectedTreeConfig;
using protocols::FtcoAllreduce;
using protocols::FtcoAllreduceConfig;
using protocols::ReliableBroadcast;
using protocols::ReliableBroadcastConfig;
using registry::ProtocolId;

// Here a death is suspected as soon as a question and its answer would have taken.
Duration detection_delay(const LogP& model) { return 2 * model.hop(); }

// The engine of one kind of machine, with or without a trace.
template <Machine M, typename Metrics>
class Runner {
 public:
  explicit Runner(const Machinery& machinery) {
    if (machinery.wants_trace)
      traced_.emplace(machinery.model, machinery.procs);
    else
      plain_.emplace(machinery.model, machinery.procs);
  }

  void set_detection(Duration delay) {
    if (traced_) traced_->set_detection(delay);
    if (plain_) plain_->set_detection(delay);
  }

  template <typename Make>
  Totals run(Make make, std::span<const Death> deaths, Metrics& metrics, Trace& trace) {
    if (!traced_) return plain_->run(make, deaths, metrics);
    Traced<Metrics> observer(metrics, trace);
    return traced_->run(make, deaths, observer);
  }

  bool is_alive(Rank rank) const {
    return traced_ ? traced_->is_alive(rank) : plain_->is_alive(rank);
  }

 private:
  std::optional<Engine<M, Metrics>> plain_;
  std::optional<Engine<M, Traced<Metrics>>> traced_;
};

// Of a broadcast: `tree` is that of its dissemination.
template <Machine M>
Result measure(const Runner<M, BroadcastMetrics>& runner, const BroadcastMetrics& metrics,
               const CorrectedTreeConfig& tree) {
  Result result;
  result.coloring_latency = Time{0};
  for (std::int32_t rank = 0; rank < tree.procs; ++rank) {
    if (!runner.is_alive(rank_at(rank))) continue;
    const Time colored = metrics.colored(rank_at(rank));
    if (colored == never)
      ++result.uncolored;
    else
      result.coloring_latency = std::max(*result.coloring_latency, colored);
  }
  if (tree.correction == protocols::Correction::none) {
    result.g_max = metrics.gap_of_tree();
  } else if (tree.start == protocols::StartMode::synchronized) {
    result.correction_start = tree.correction_start;
    result.g_max = metrics.gap_at(tree.correction_start);
  } else {
    if (metrics.first_correction() != never) result.correction_start = metrics.first_correction();
    result.g_max = metrics.gap_of_tree();
  }
  return result;
}

CorrectedTreeConfig tree_config(const Machinery& machinery, const topology::Tree& tree) {
  return {.tree = tree,
          .procs = machinery.procs,
          .root = machinery.root,
          .correction = machinery.spec.correction,
          .distance = machinery.spec.distance,
          .start = machinery.spec.start,
          .correction_start = dissemination_end(tree, machinery.model),
          .early = machinery.spec.early};
}

class CorrectedTreeSimulation final : public Simulation {
 public:
  CorrectedTreeSimulation(const Machinery& machinery, registry::OwnedTree tree)
      : tree_(std::move(tree)), config_(tree_config(machinery, tree_.tree)), runner_(machinery) {}

  Result run(std::span<const Death> deaths) override {
    BroadcastMetrics metrics(config_.procs, config_.root);
    Trace trace;
    const auto make = [this](Rank rank) { return CorrectedTree(config_, rank); };
    const Totals totals = runner_.run(make, deaths, metrics, trace);
    Result result = measure(runner_, metrics, config_);
    result.totals = totals;
    result.trace = std::move(trace);
    return result;
  }

 private:
  registry::OwnedTree tree_;
  CorrectedTreeConfig config_;
  Runner<CorrectedTree, BroadcastMetrics> runner_;
};

class ReliableBroadcastSimulation final : public Simulation {
 public:
  ReliableBroadcastSimulation(const Machinery& machinery, registry::OwnedTree tree)
      : tree_(std::move(tree)),
        config_(overlapped(tree_config(machinery, tree_.tree)), 2,
                dissemination_end(tree_.tree, machinery.model).ticks + 2 * machinery.model.hop()),
        runner_(machinery) {
    runner_.set_detection(detection_delay(machinery.model));
  }

  Result run(std::span<const Death> deaths) override {
    BroadcastMetrics metrics(config_.dissemination.procs, config_.dissemination.root);
    Trace trace;
    const auto make = [this](Rank rank) { return ReliableBroadcast(config_, rank); };
    const Totals totals = runner_.run(make, deaths, metrics, trace);
    Result result = measure(runner_, metrics, config_.dissemination);
    result.totals = totals;
    result.trace = std::move(trace);
    return result;
  }

 private:
  static CorrectedTreeConfig overlapped(CorrectedTreeConfig config) {
    config.start = protocols::StartMode::overlapped;
    return config;
  }

  registry::OwnedTree tree_;
  ReliableBroadcastConfig config_;
  Runner<ReliableBroadcast, BroadcastMetrics> runner_;
};

class ReductionSimulation final : public Simulation {
 public:
  explicit ReductionSimulation(const Machinery& machinery)
      : config_{machinery.procs, machinery.spec.k, machinery.root,
                machinery.spec.protocol == ProtocolId::ftco_allreduce},
        runner_(machinery) {
    runner_.set_detection(detection_delay(machinery.model));
  }

  Result run(std::span<const Death> deaths) override {
    ReductionMetrics metrics(config_.procs);
    Result result;
    const auto make = [this](Rank rank) { return FtcoAllreduce(config_, rank); };
    result.totals = runner_.run(make, deaths, metrics, result.trace);
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

 private:
  FtcoAllreduceConfig config_;
  Runner<FtcoAllreduce, ReductionMetrics> runner_;
};

// One line, or empty if all is in range.
std::string defect(const Machinery& machinery) {
  constexpr Duration ticks_max = Duration{1} << 40;
  const auto wrong = [](const char* name, Duration given, const std::string& valid) {
    return std::string(name) + "=" + std::to_string(given) + " is not " + valid;
  };
  if (machinery.procs < 1 || machinery.procs > 1 << 26)
    return wrong("procs", machinery.procs, "from 1 to 67108864");
  if (machinery.model.latency < 0 || machinery.model.latency > ticks_max)
    return wrong("latency", machinery.model.latency, "from 0 to 2^40");
  if (machinery.model.overhead < 1 || machinery.model.overhead > ticks_max)
    return wrong("overhead", machinery.model.overhead, "from 1 to 2^40");
  if (machinery.model.gap < 0 || machinery.model.gap > ticks_max)
    return wrong("gap", machinery.model.gap, "from 0 to 2^40");
  const std::int32_t root = index(machinery.root);
  if (root < 0 || root >= machinery.procs)
    return wrong("root", root, "from 0 to " + std::to_string(machinery.procs - 1));
  if (machinery.spec.protocol == ProtocolId::ftco_allreduce && root != 0)
    return wrong("root", root, "0: an allreduce has no root");
  return "";
}

}  // namespace

std::variant<std::unique_ptr<Simulation>, std::string> Simulation::make(
    const Machinery& machinery) {
  if (const std::string wrong = defect(machinery); !wrong.empty()) return wrong;
  const ProtocolId protocol = machinery.spec.protocol;
  if (protocol == ProtocolId::ftco_allreduce || protocol == ProtocolId::ftco_reduce)
    return std::make_unique<ReductionSimulation>(machinery);
  auto tree = registry::make_tree(machinery.spec, machinery.procs, machinery.model.latency,
                                  machinery.model.overhead);
  if (auto* wrong = std::get_if<std::string>(&tree)) return std::move(*wrong);
  auto owned = std::get<registry::OwnedTree>(std::move(tree));
  if (protocol == ProtocolId::reliable_broadcast)
    return std::make_unique<ReliableBroadcastSimulation>(machinery, std::move(owned));
  return std::make_unique<CorrectedTreeSimulation>(machinery, std::move(owned));
}

}  // namespace resprout::sim
