// Revocations on the LogP machine: when everybody knows, and when the last notice has come; and the
// paper's benchmark, which shows what that does to a program's collective operations.
#include "sim/logp/runner.hpp"
#include "sim/logp/simulations.hpp"
#include "sim/revoke/benchmark.hpp"
#include "sim/revoke/initiators.hpp"

namespace resprout::sim {
namespace {

// When each process was revoked.
class RevokeMetrics {
 public:
  struct Payload {};

  explicit RevokeMetrics(std::int32_t procs) : revoked_(static_cast<std::size_t>(procs), never) {}

  Payload on_send(const Message&, const Flight&) { return {}; }
  void on_receive(Time, const Message&) {}
  void on_event(Time now, Rank rank, const Event& event, const Payload*) {
    if (event.kind == EventKind::revoked) revoked_[static_cast<std::size_t>(index(rank))] = now;
  }

  Time revoked(Rank rank) const { return revoked_[static_cast<std::size_t>(index(rank))]; }

 private:
  std::vector<Time> revoked_;
};

static_assert(Observer<RevokeMetrics>);

class RevokeSimulation final : public Simulation {
 public:
  RevokeSimulation(const Machinery& machinery, std::vector<Revocation> initiators)
      : config_{{machinery.procs, machinery.spec.closes_ring}, std::move(initiators)},
        runner_(machinery) {
    // The paper's knows of no dead: what is sent to them vanishes.
    if (machinery.spec.closes_ring) runner_.set_detection(detection_delay(machinery.model));
  }

 private:
  Result do_run(std::span<const Death> deaths, std::uint64_t seed) override {
    const std::int32_t procs = config_.revoke.procs;
    RevokeMetrics metrics(procs);
    Result result;
    result.totals = runner_.run(config_, deaths, metrics, result.trace, seed);
    for (std::int32_t i = 0; i < procs; ++i) {
      const Rank rank = rank_at(i);
      if (!runner_.is_alive(rank)) continue;
      const Time revoked = metrics.revoked(rank);
      if (revoked == never)
        ++result.uncolored;
      else
        result.coloring_latency = std::max(result.coloring_latency.value_or(Time{0}), revoked);
    }
    return result;
  }

  RevokerConfig config_;
  Runner<Revoker, RevokeMetrics> runner_;
};

// How long each process was in one operation of the benchmark's plans, and when it was revoked.
class BenchmarkMetrics {
 public:
  struct Payload {};

  BenchmarkMetrics(std::int32_t procs, std::uint32_t operation)
      : began_(static_cast<std::size_t>(procs)), operation_(operation) {}

  Payload on_send(const Message&, const Flight&) { return {}; }
  void on_receive(Time, const Message&) {}
  void on_event(Time now, Rank rank, const Event& event, const Payload*) {
    const bool is_revoked = event.kind == EventKind::revoked;
    Time& began = began_[static_cast<std::size_t>(index(rank))];
    const std::uint32_t ended = is_revoked ? BenchmarkConfig::revoked : event.subject.round;
    if (ended == operation_) {
      longest_ = std::max(longest_, now - began);
      first_end_ = std::min(first_end_, now);
      last_end_ = std::max(last_end_, now);
    }
    began = now;
    if (!is_revoked) return;
    ++revoked_;
    first_revoked_ = std::min(first_revoked_, now);
    last_revoked_ = std::max(last_revoked_, now);
  }

  // The most that a process spent in the operation.
  Duration longest() const { return longest_; }
  // Between the first and the last who ended it.
  Duration output_spread() const { return last_end_ - first_end_; }
  std::int32_t revoked() const { return revoked_; }
  // From the first who was revoked to the last.
  Duration spread() const { return last_revoked_ - first_revoked_; }

 private:
  std::vector<Time> began_;  // what it is in
  std::uint32_t operation_;
  Duration longest_ = 0;
  Time first_end_ = never;
  Time last_end_{};
  std::int32_t revoked_ = 0;
  Time first_revoked_ = never;
  Time last_revoked_{};
};

static_assert(Observer<BenchmarkMetrics>);

class BenchmarkSimulation final : public Simulation {
 public:
  BenchmarkSimulation(const Machinery& machinery, const std::vector<Revocation>& initiators)
      : config_{{machinery.procs, machinery.spec.closes_ring},
                PlanSteps(machinery.spec.plan, machinery.procs),
                {},
                0},
        operation_(static_cast<std::uint32_t>(machinery.spec.operation) + BenchmarkConfig::revoked),
        runner_(machinery) {
    for (const Revocation& one : initiators) config_.initiators.push_back(one.rank);
    config_.last = std::max(operation_, BenchmarkConfig::revoked);
  }

 private:
  Result do_run(std::span<const Death> deaths, std::uint64_t seed) override {
    BenchmarkMetrics metrics(config_.revoke.procs, operation_);
    Result result;
    result.totals = runner_.run(config_, deaths, metrics, result.trace, seed);
    result.completion_latency = Time{metrics.longest()};
    result.output_spread = metrics.output_spread();
    if (config_.initiators.empty()) return result;
    result.coloring_latency = Time{metrics.spread()};
    result.uncolored = config_.revoke.procs - metrics.revoked();
    return result;
  }

  BenchmarkConfig config_;
  std::uint32_t operation_;
  Runner<BenchmarkProcess, BenchmarkMetrics> runner_;
};

}  // namespace

Made make_revoke(const Machinery& machinery) {
  auto parsed = parse_initiators(machinery.initiators, machinery.procs, machinery.root);
  auto& initiators = std::get<std::vector<Revocation>>(parsed);
  if (machinery.spec.plan != registry::Plan::none)
    return std::make_unique<BenchmarkSimulation>(machinery, initiators);
  return std::make_unique<RevokeSimulation>(machinery, std::move(initiators));
}

}  // namespace resprout::sim
