// Memberships on the LogP machine: the paper's stabilization, in ticks.
//
// A death is learned as from a closed connection: by the neighbors of the dead in the tree, L + o
// after it; by others when they send to it, a way there and back later. Who is dead at 0 was a
// member of the first view. Sends and receives take o each, on ports of their own. Who comes back
// asks the last process for admission.
#include <queue>
#include <utility>
#include <vector>

#include "protocols/local_membership/local_membership.hpp"
#include "protocols/membership/membership.hpp"
#include "sim/logp/simulations.hpp"

namespace resprout::sim {
namespace {

// What the members keep: the list of them all, or their neighborhoods.
class WholeSide {
 public:
  using Machine = protocols::LargeMembership;
  static constexpr auto install = protocols::MembershipEventKind::install;
  static_assert(Machine::Ids::capacity == memberships_max);

  explicit WholeSide(std::int32_t procs) : all_(Machine::Ids::first(procs)) {}
  Machine founder(const protocols::MembershipConfig& config, Rank self) const {
    return Machine::founder(config, self, all_);
  }
  static Machine joiner(const protocols::MembershipConfig& config, Rank self, Rank contact) {
    return Machine::joiner(config, self, Machine::Ids::only(contact));
  }
  static bool is_neighbor(const Machine& machine, Rank rank) {
    return machine.neighbors().contains(rank);
  }
  static std::int64_t count(const Machine& machine) { return machine.view().members.count(); }

  // Whether a process is in the view of exactly those that have been added.
  void add(Rank rank) { living_.add(rank); }
  bool is_true(const Machine& machine) const { return machine.view().members == living_; }

 private:
  Machine::Ids all_;
  Machine::Ids living_;
};

class LocalSide {
 public:
  using Machine = protocols::LargeLocalMembership;
  static constexpr auto install = protocols::LocalEventKind::install;

  explicit LocalSide(std::int32_t procs) : first_(protocols::LocalView::first(procs)) {}
  Machine founder(const protocols::MembershipConfig& config, Rank self) const {
    return Machine::founder(config, self, first_);
  }
  static Machine joiner(const protocols::MembershipConfig& config, Rank self, Rank contact) {
    return Machine::joiner(config, self, {&contact, 1});
  }
  static bool is_neighbor(const Machine& machine, Rank rank) { return machine.is_neighbor(rank); }
  static std::int64_t count(const Machine& machine) { return machine.view().members.count; }

  void add(Rank rank) { living_ += protocols::Tally::of(rank); }
  bool is_true(const Machine& machine) const {
    return machine.is_member() && machine.view().members == living_;
  }

 private:
  protocols::LocalView first_;
  protocols::Tally living_;
};

template <typename Views>
class MembershipSimulation final : public Simulation {
 public:
  explicit MembershipSimulation(const Machinery& machinery)
      : config_{{machinery.spec.k}, 0},
        procs_(machinery.procs),
        model_(machinery.model),
        returns_(machinery.returns) {}

 private:
  using Machine = typename Views::Machine;
  using Message = typename Machine::Message;

  enum class Kind : std::uint8_t { death, arrival, suspicion, message, port };
  struct Occasion {
    Time at;
    std::int64_t order;
    Kind kind;
    Rank rank;               // who dies, comes back, learns, receives, or has a free port
    Rank about = no_rank;    // whom it suspects
    std::size_t letter = 0;  // its message
  };
  struct Later {
    bool operator()(const Occasion& a, const Occasion& b) const {
      return std::pair{a.at, a.order} > std::pair{b.at, b.order};
    }
  };
  struct Process {
    Machine machine;
    Time send_port{};  // free from then on
    Time receive_port{};
    Time installed{};  // the last view
    bool is_alive = true;
    bool is_sending = false;
  };

  void plan(Time at, Kind kind, Rank rank, Rank about = no_rank, std::size_t letter = 0) {
    occasions_.push({at, order_++, kind, rank, about, letter});
  }
  Process& at(Rank rank) { return processes_[static_cast<std::size_t>(index(rank))]; }

  Result do_run(std::span<const Death> deaths, std::uint64_t) override {
    const Views first(procs_);
    processes_.clear();
    processes_.reserve(static_cast<std::size_t>(procs_));
    letters_.clear();
    free_letters_.clear();
    order_ = messages_ = 0;
    digest_ = Digest{};
    now_ = last_ = Time{};
    for (std::int32_t i = 0; i < procs_; ++i) {
      processes_.push_back({first.founder(config_, rank_at(i))});
      processes_.back().machine.start(now_);
      drain(rank_at(i));
    }
    for (const Death& death : deaths) plan(death.at, Kind::death, death.rank);
    for (const Death& back : returns_) plan(back.at, Kind::arrival, back.rank);
    while (!occasions_.empty()) {
      const Occasion occasion = occasions_.top();
      occasions_.pop();
      now_ = occasion.at;
      act(occasion);
    }
    return result();
  }

  void act(const Occasion& occasion) {
    Process& process = at(occasion.rank);
    switch (occasion.kind) {
      case Kind::death:
        die(occasion.rank);
        return;
      case Kind::arrival:
        process.machine = Views::joiner(config_, occasion.rank, rank_at(procs_ - 1));
        process.is_alive = true;
        process.machine.start(now_);
        break;
      case Kind::suspicion:
        if (!process.is_alive) return;
        process.machine.handle_suspicion(now_, occasion.about, protocols::Evidence::death);
        break;
      case Kind::message:
        receive(occasion);
        return;
      case Kind::port:
        process.is_sending = false;
        break;
    }
    drain(occasion.rank);
  }

  void die(Rank rank) {
    if (!at(rank).is_alive) return;
    at(rank).is_alive = false;
    last_ = now_;
    for (std::int32_t i = 0; i < procs_; ++i)
      if (Views::is_neighbor(at(rank_at(i)).machine, rank))
        plan(now_ + model_.latency + model_.overhead, Kind::suspicion, rank_at(i), rank);
  }

  void receive(const Occasion& occasion) {
    Process& process = at(occasion.rank);
    const Message message = letters_[occasion.letter];
    free_letters_.push_back(occasion.letter);
    if (!process.is_alive) {
      plan(now_ + model_.latency, Kind::suspicion, message.from, occasion.rank);
      return;
    }
    digest_.add(static_cast<std::uint64_t>(now_.ticks));
    digest_.add(static_cast<std::uint64_t>(index(message.from)) << 32 |
                static_cast<std::uint64_t>(index(message.to)));
    digest_.add(static_cast<std::uint64_t>(message.kind));
    process.machine.handle_message(now_, message);
    drain(occasion.rank);
  }

  // The machine's events, and its next send if the port is free.
  void drain(Rank rank) {
    Process& process = at(rank);
    if (!process.is_alive) return;
    last_ = now_;
    while (const auto event = process.machine.poll_event())
      if (event->kind == Views::install) process.installed = now_;
    if (process.is_sending) return;
    const auto message = process.machine.poll_send();
    if (!message) return;
    ++messages_;
    process.is_sending = true;
    plan(now_ + std::max(model_.overhead, model_.gap), Kind::port, rank);
    std::size_t letter = letters_.size();
    if (free_letters_.empty()) {
      letters_.push_back(*message);
    } else {
      letter = free_letters_.back();
      free_letters_.pop_back();
      letters_[letter] = *message;
    }
    Process& receiver = at(message->to);
    const Time arrives = now_ + model_.overhead + model_.latency;
    const Time begins = std::max(arrives, receiver.receive_port);
    receiver.receive_port = begins + std::max(model_.overhead, model_.gap);
    plan(begins + model_.overhead, Kind::message, message->to, no_rank, letter);
  }

  Result result() {
    Result result;
    result.totals = {messages_, last_, digest_.value()};
    Views living(0);
    for (std::int32_t i = 0; i < procs_; ++i)
      if (at(rank_at(i)).is_alive) living.add(rank_at(i));
    Time last_install{};
    for (const Process& process : processes_) {
      if (!process.is_alive) continue;
      if (!living.is_true(process.machine)) ++result.uncolored;
      last_install = std::max(last_install, process.installed);
      result.contributors = Views::count(process.machine);
    }
    result.completion_latency = last_install;
    return result;
  }

  protocols::MembershipConfig config_;
  std::int32_t procs_;
  LogP model_;
  std::vector<Death> returns_;
  Time now_{};
  Time last_{};
  std::int64_t order_ = 0;
  std::int64_t messages_ = 0;
  Digest digest_;
  std::vector<Process> processes_;
  std::vector<Message> letters_;           // on their way
  std::vector<std::size_t> free_letters_;  // places among them
  std::priority_queue<Occasion, std::vector<Occasion>, Later> occasions_;
};

}  // namespace

Made make_membership(const Machinery& machinery) {
  if (machinery.spec.has_local_views)
    return std::make_unique<MembershipSimulation<LocalSide>>(machinery);
  return std::make_unique<MembershipSimulation<WholeSide>>(machinery);
}

}  // namespace resprout::sim
