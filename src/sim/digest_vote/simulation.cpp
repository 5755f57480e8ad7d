// A step of a replicated program on the LogP machine: every rank sends a message to the next one.
//
// Rank v has the processes v degree + k, replica k. Each of them is in two exchanges: as a sender
// to rank v + 1 and as a receiver from rank v - 1. Sends and receives take o each, on ports of
// their own. A death is learned as from a closed connection: by the processes of its two exchanges,
// L + o after it.
#include <algorithm>
#include <array>
#include <queue>
#include <utility>
#include <vector>

#include "protocols/digest_vote/digest_vote.hpp"
#include "sim/logp/simulations.hpp"

namespace resprout::sim {
namespace {

using protocols::DigestVote;
using protocols::VoteEventKind;
using protocols::VoteMessage;

class DigestVoteSimulation final : public Simulation {
 public:
  explicit DigestVoteSimulation(const Machinery& machinery)
      : config_{machinery.spec.vote_method, machinery.spec.degree, machinery.spec.unproven},
        is_corrupted_(machinery.spec.is_corrupted),
        ranks_(machinery.procs / machinery.spec.degree),
        model_(machinery.model) {}

 private:
  enum class Kind : std::uint8_t { death, suspicion, message, port };
  struct Occasion {
    Time at;
    std::int64_t order;
    Kind kind;
    std::int32_t process;   // who dies, learns, receives, or has a free port
    std::int32_t exchange;  // of what it learns or receives
    std::int32_t about;     // whom it suspects, as a rank of the exchange
    VoteMessage message;
  };
  struct Later {
    bool operator()(const Occasion& a, const Occasion& b) const {
      return std::pair{a.at, a.order} > std::pair{b.at, b.order};
    }
  };
  // What a process is in one exchange.
  struct Part {
    DigestVote machine;
    std::vector<Rank> suspects;
  };
  struct Process {
    std::array<Part, 2> parts;  // the sender's, the receiver's
    Time receive_port{};        // free from then on
    std::int32_t turn = 0;      // whose part sends next
    bool is_alive = true;
    bool is_sending = false;
    bool has_failed = false;
  };

  std::int32_t degree() const { return config_.degree; }
  std::int32_t rank_of(std::int32_t process) const { return process / degree(); }
  // An exchange has the number of its sender.
  std::int32_t exchange_of(std::int32_t process, std::size_t part) const {
    return part == 0 ? rank_of(process) : (rank_of(process) + ranks_ - 1) % ranks_;
  }
  std::int32_t process_of(std::int32_t exchange, Rank rank) const {
    const std::int32_t owner = config_.is_sender(rank) ? exchange : (exchange + 1) % ranks_;
    return owner * degree() + config_.replica(rank);
  }
  Rank self_of(std::int32_t process, std::size_t part) const {
    const std::int32_t replica = process % degree();
    return part == 0 ? config_.sender(replica) : config_.receiver(replica);
  }
  std::size_t part_of(std::int32_t process, std::int32_t exchange) const {
    return exchange_of(process, 0) == exchange ? 0 : 1;
  }
  Process& at(std::int32_t process) { return processes_[static_cast<std::size_t>(process)]; }
  Context context(const Part& part) const {
    return {now_, {part.suspects.data(), static_cast<std::uint32_t>(part.suspects.size())}, {}};
  }
  void plan(Time at, Kind kind, std::int32_t process, std::int32_t exchange = 0,
            std::int32_t about = 0, const VoteMessage& message = {}) {
    occasions_.push({at, order_++, kind, process, exchange, about, message});
  }

  Result do_run(std::span<const Death> deaths, std::uint64_t) override {
    processes_.clear();
    order_ = messages_ = 0;
    digest_ = Digest{};
    now_ = last_ = delivered_ = ended_ = Time{};
    for (std::int32_t process = 0; process < ranks_ * degree(); ++process) {
      const std::uint64_t copy = is_corrupted_ && process == 0 ? 2 : 1;
      processes_.push_back({{Part{DigestVote(config_, self_of(process, 0), copy), {}},
                             Part{DigestVote(config_, self_of(process, 1), 0), {}}}});
    }
    for (const Death& death : deaths) plan(death.at, Kind::death, index(death.rank));
    for (std::int32_t process = 0; process < ranks_ * degree(); ++process)
      plan(now_, Kind::port, process);
    for (Process& process : processes_)
      for (Part& part : process.parts) part.machine.start(context(part));
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
    Part& part = process.parts[part_of(occasion.process, occasion.exchange)];
    switch (occasion.kind) {
      case Kind::death:
        die(occasion.process);
        return;
      case Kind::suspicion:
        part.suspects.push_back(rank_at(occasion.about));
        std::sort(part.suspects.begin(), part.suspects.end());
        part.machine.handle_suspicion(context(part), rank_at(occasion.about));
        break;
      case Kind::message:
        digest_.add(static_cast<std::uint64_t>(now_.ticks));
        digest_.add(static_cast<std::uint64_t>(occasion.process));
        digest_.add(static_cast<std::uint64_t>(occasion.message.kind));
        part.machine.handle_message(context(part), occasion.message);
        break;
      case Kind::port:
        process.is_sending = false;
        break;
    }
    drain(occasion.process);
  }

  void die(std::int32_t process) {
    at(process).is_alive = false;
    last_ = now_;
    for (std::size_t part = 0; part < 2; ++part) {
      const std::int32_t exchange = exchange_of(process, part);
      const Rank self = self_of(process, part);
      for (std::int32_t other = 0; other < config_.procs(); ++other)
        if (other != index(self))
          plan(now_ + model_.latency + model_.overhead, Kind::suspicion,
               process_of(exchange, rank_at(other)), exchange, index(self));
    }
  }

  // What the machines say, and the next send if the port is free.
  void drain(std::int32_t number) {
    Process& process = at(number);
    last_ = now_;
    Part& receiver = process.parts[1];
    while (const auto event = receiver.machine.poll_event(context(receiver))) {
      const bool is_failure =
          event->kind == VoteEventKind::undecided || event->kind == VoteEventKind::lost;
      process.has_failed |= is_failure;
      if (event->kind == VoteEventKind::deliver) delivered_ = now_;
      if (is_failure || event->kind == VoteEventKind::finish) ended_ = now_;
    }
    for (int tries = 0; tries < 2 && !process.is_sending; ++tries) {
      const auto part = static_cast<std::size_t>(process.turn);
      process.turn = 1 - process.turn;
      Part& sender = process.parts[part];
      if (const auto message = sender.machine.poll_send(context(sender)))
        send(number, exchange_of(number, part), *message);
    }
  }

  void send(std::int32_t number, std::int32_t exchange, const VoteMessage& message) {
    ++messages_;
    at(number).is_sending = true;
    plan(now_ + model_.spacing(), Kind::port, number);
    const std::int32_t to = process_of(exchange, message.to);
    const Time arrives = now_ + model_.overhead + model_.latency;
    const Time begins = std::max(arrives, at(to).receive_port);
    at(to).receive_port = begins + model_.spacing();
    plan(begins + model_.overhead, Kind::message, to, exchange, 0, message);
  }

  Result result() {
    Result result;
    result.totals = {messages_, last_, digest_.value()};
    for (Process& process : processes_)
      if (process.is_alive && (process.has_failed || !process.parts[1].machine.is_over()))
        ++result.uncolored;
    result.coloring_latency = delivered_;
    result.completion_latency = ended_;
    return result;
  }

  protocols::DigestVoteConfig config_;
  bool is_corrupted_;
  std::int32_t ranks_;
  LogP model_;
  Time now_{};
  Time last_{};
  Time delivered_{};
  Time ended_{};
  std::int64_t order_ = 0;
  std::int64_t messages_ = 0;
  Digest digest_;
  std::vector<Process> processes_;
  std::priority_queue<Occasion, std::vector<Occasion>, Later> occasions_;
};

}  // namespace

Made make_digest_vote(const Machinery& machinery) {
  return std::make_unique<DigestVoteSimulation>(machinery);
}

}  // namespace resprout::sim
