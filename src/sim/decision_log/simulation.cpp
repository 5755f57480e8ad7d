// The replicas of ranks that decide, on the LogP machine.
//
// Rank v has the processes v degree + k, replica k. Each program makes or follows its decisions as
// fast as it may, then waits until they are settled. Sends and receives take o each, on ports of
// their own; ranks have nothing to do with each other. A death is learned as from a closed
// connection: by the other replicas, L + o after it.
#include <algorithm>
#include <queue>
#include <utility>
#include <vector>

#include "protocols/decision_log/decision_log.hpp"
#include "sim/logp/simulations.hpp"

namespace resprout::sim {
namespace {

using protocols::DecisionLog;
using protocols::DecisionMessage;

class DecisionLogSimulation final : public Simulation {
 public:
  explicit DecisionLogSimulation(const Machinery& machinery)
      : config_{machinery.spec.degree, static_cast<std::uint64_t>(machinery.spec.window)},
        decisions_(static_cast<std::uint64_t>(machinery.spec.decisions)),
        procs_(machinery.procs),
        model_(machinery.model) {}

 private:
  enum class Kind : std::uint8_t { death, suspicion, message, port };
  struct Occasion {
    Time at;
    std::int64_t order;
    Kind kind;
    std::int32_t process;  // who dies, learns, receives, or has a free port
    Rank about;            // whom it suspects
    DecisionMessage message;
  };
  struct Later {
    bool operator()(const Occasion& a, const Occasion& b) const {
      return std::pair{a.at, a.order} > std::pair{b.at, b.order};
    }
  };
  struct Process {
    DecisionLog machine;
    std::vector<Rank> suspects;
    Time receive_port{};  // free from then on
    bool is_alive = true;
    bool is_sending = false;
  };

  Process& at(std::int32_t process) { return processes_[static_cast<std::size_t>(process)]; }
  Context context(const Process& process) const {
    return {
        now_, {process.suspects.data(), static_cast<std::uint32_t>(process.suspects.size())}, {}};
  }
  Rank replica(std::int32_t process) const { return rank_at(process % config_.degree); }
  std::int32_t sibling(std::int32_t process, Rank replica) const {
    return process - process % config_.degree + index(replica);
  }
  void plan(Time at, Kind kind, std::int32_t process, Rank about = no_rank,
            const DecisionMessage& message = {}) {
    occasions_.push({at, order_++, kind, process, about, message});
  }

  Result do_run(std::span<const Death> deaths, std::uint64_t) override {
    processes_.clear();
    order_ = messages_ = 0;
    digest_ = Digest{};
    now_ = last_ = followed_ = settled_ = Time{};
    for (std::int32_t process = 0; process < procs_; ++process)
      processes_.push_back({DecisionLog(config_, replica(process)), {}});
    for (const Death& death : deaths) plan(death.at, Kind::death, index(death.rank));
    for (Process& process : processes_) process.machine.start(context(process));
    for (std::int32_t process = 0; process < procs_; ++process) plan(now_, Kind::port, process);
    while (!occasions_.empty()) {
      const Occasion occasion = occasions_.top();
      occasions_.pop();
      now_ = occasion.at;
      act(occasion);
    }
    return result();
  }

  void act(const Occasion& occasion) {
    Process& process = at(occasion.process);
    if (!process.is_alive) return;
    switch (occasion.kind) {
      case Kind::death:
        die(occasion.process);
        return;
      case Kind::suspicion:
        process.suspects.push_back(occasion.about);
        std::sort(process.suspects.begin(), process.suspects.end());
        process.machine.handle_suspicion(context(process), occasion.about);
        break;
      case Kind::message:
        digest_.add(static_cast<std::uint64_t>(now_.ticks));
        digest_.add(static_cast<std::uint64_t>(occasion.process));
        digest_.add(static_cast<std::uint64_t>(occasion.message.kind));
        process.machine.handle_message(context(process), occasion.message);
        break;
      case Kind::port:
        process.is_sending = false;
        break;
    }
    go_on(occasion.process);
  }

  void die(std::int32_t process) {
    at(process).is_alive = false;
    last_ = now_;
    for (std::int32_t other = 0; other < config_.degree; ++other)
      if (rank_at(other) != replica(process))
        plan(now_ + model_.latency + model_.overhead, Kind::suspicion,
             sibling(process, rank_at(other)), replica(process));
  }

  // The program gets as far as it can, and the next send goes out if the port is free.
  void go_on(std::int32_t number) {
    Process& process = at(number);
    DecisionLog& machine = process.machine;
    last_ = now_;
    while (machine.followed() < decisions_) {
      if (machine.may_follow())
        machine.follow(context(process));
      else if (machine.may_decide(context(process)))
        machine.decide(context(process));
      else
        break;
      if (machine.followed() == decisions_) followed_ = now_;
    }
    while (machine.poll_event(context(process))) {
    }
    const bool has_followed = machine.followed() == decisions_ && !machine.is_finished();
    if (has_followed && machine.is_settled(context(process))) {
      machine.finish(context(process));
      settled_ = now_;
    }
    if (process.is_sending) return;
    if (const auto message = machine.poll_send(context(process))) send(number, *message);
  }

  void send(std::int32_t number, const DecisionMessage& message) {
    ++messages_;
    at(number).is_sending = true;
    plan(now_ + model_.spacing(), Kind::port, number);
    const std::int32_t to = sibling(number, message.to);
    const Time arrives = now_ + model_.overhead + model_.latency;
    const Time begins = std::max(arrives, at(to).receive_port);
    at(to).receive_port = begins + model_.spacing();
    plan(begins + model_.overhead, Kind::message, to, no_rank, message);
  }

  Result result() {
    Result result;
    result.totals = {messages_, last_, digest_.value()};
    for (const Process& process : processes_)
      if (process.is_alive && !process.machine.is_finished()) ++result.uncolored;
    result.coloring_latency = followed_;
    result.completion_latency = settled_;
    return result;
  }

  protocols::DecisionLogConfig config_;
  std::uint64_t decisions_;
  std::int32_t procs_;
  LogP model_;
  Time now_{};
  Time last_{};
  Time followed_{};
  Time settled_{};
  std::int64_t order_ = 0;
  std::int64_t messages_ = 0;
  Digest digest_;
  std::vector<Process> processes_;
  std::priority_queue<Occasion, std::vector<Occasion>, Later> occasions_;
};

}  // namespace

Made make_decision_log(const Machinery& machinery) {
  return std::make_unique<DecisionLogSimulation>(machinery);
}

}  // namespace resprout::sim
