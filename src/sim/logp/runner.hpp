// The engine of one kind of machine, with or without a trace, and what all broadcasts have in
// common on it.
// Thread rule: one thread a runner.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "sim/logp/broadcast_metrics.hpp"
#include "sim/logp/simulation.hpp"
#include "topology/growth.hpp"

namespace resprout::sim {

// `TracedM` behaves as `M` does and serves where a trace is wanted: fewer engines to compile.
template <Machine M, typename Metrics, Machine TracedM = M>
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

  // One machine a rank, made from `config`; `seed`: of the noise. REQUIRES: config lives as long as
  // the runner runs.
  template <typename Config>
  Totals run(const Config& config, std::span<const Death> deaths, Metrics& metrics, Trace& trace,
             std::uint64_t seed) {
    if (!traced_)
      return plain_->run([&](Rank rank) { return M(config, rank); }, deaths, metrics, seed);
    Traced<Metrics> observer(metrics, trace);
    return traced_->run([&](Rank rank) { return TracedM(config, rank); }, deaths, observer, seed);
  }

  bool is_alive(Rank rank) const {
    return traced_ ? traced_->is_alive(rank) : plain_->is_alive(rank);
  }

 private:
  std::optional<Engine<M, Metrics>> plain_;
  std::optional<Engine<TracedM, Traced<Metrics>>> traced_;
};

// A death is suspected, where there is a detector, as soon as a question and its answer would have
// taken.
constexpr Duration detection_delay(const LogP& model) { return 2 * model.hop(); }

// A broadcast by machines of type M. If Config has a seed, it is that of the run.
template <Machine M, typename Config, Machine TracedM = M>
class BroadcastSimulation final : public Simulation {
 public:
  // `correction_start`: the agreed time, if there is one. `growth`: what config's tree refers to.
  BroadcastSimulation(const Machinery& machinery, const Config& config,
                      std::optional<Time> correction_start,
                      std::unique_ptr<const topology::Growth> growth = nullptr)
      : growth_(std::move(growth)),
        config_(config),
        correction_start_(correction_start),
        procs_(machinery.procs),
        root_(machinery.root),
        runner_(machinery) {}

  void set_detection(Duration delay) { runner_.set_detection(delay); }

 private:
  Result do_run(std::span<const Death> deaths, std::uint64_t seed) override {
    if constexpr (requires { config_.seed; }) config_.seed = seed;
    BroadcastMetrics metrics(procs_, root_);
    Result result;
    result.totals = runner_.run(config_, deaths, metrics, result.trace, seed);
    result.coloring_latency = Time{0};
    for (std::int32_t rank = 0; rank < procs_; ++rank) {
      if (!runner_.is_alive(rank_at(rank))) continue;
      const Time colored = metrics.colored(rank_at(rank));
      if (colored == never)
        ++result.uncolored;
      else
        result.coloring_latency = std::max(*result.coloring_latency, colored);
    }
    result.correction_start = correction_start_;
    if (!correction_start_ && metrics.first_correction() != never)
      result.correction_start = metrics.first_correction();
    result.g_max = correction_start_ ? metrics.gap_at(*correction_start_) : metrics.gap_of_tree();
    return result;
  }

  std::unique_ptr<const topology::Growth> growth_;
  Config config_;
  std::optional<Time> correction_start_;
  std::int32_t procs_;
  Rank root_;
  Runner<M, BroadcastMetrics, TracedM> runner_;
};

}  // namespace resprout::sim
