// An asynchronous world for the decisions of one rank's replicas: everything that may happen next
// is an action, and somebody else chooses, as in sim/adversary/world.hpp, whose rules hold here as
// well. What is different:
//
//  1. All run from the beginning. Each one's program has so many decisions before it, makes or
//     follows the next one whenever it is chosen to and may, and ends.
//  2. What came of its decisions is shown to others as soon as they are settled: nothing is more
//     dangerous. What was decided is known by who has decided it.
//  3. Who has ended and has said so is gone: it hears nothing and answers nobody. It may die all
//     the same.
//  4. Sends are actions of their own, or follow at once: then a crash between two of them shows as
//     the loss of the last ones.
//
// While it runs the world itself checks that nobody sends what it does not hold and that nobody
// leaves out a decision.
// Thread rule: a value; a copy is a fork.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "protocols/decision_log/decision_log.hpp"
#include "sim/adversary/world.hpp"
#include "sim/decision_log/outcome.hpp"

namespace resprout::sim {

// A rule that is broken on purpose, to see that it is found.
enum class DecisionLogDefect : std::uint8_t {
  none,
  settling,    // what was decided is shown at once
  inquiry,     // a new leader asks nobody what it knows
  promise,     // who has answered a new leader goes on to take decisions of the old one
  suspicions,  // nobody is told of a suspicion
};

struct DecisionLogScene {
  std::uint64_t decisions = 3;  // that each program makes; below decisions_bound
  bool sends_at_once = true;    // rule 4
  DecisionLogDefect defect = DecisionLogDefect::none;
};

class DecisionLogWorld {
 public:
  using Machine = protocols::DecisionLog;
  using Message = protocols::DecisionMessage;

  DecisionLogWorld(const protocols::DecisionLogConfig& config, const DecisionLogScene& scene);

  int procs() const { return static_cast<int>(processes_.size()); }
  const Machine& machine(int rank) const { return at(rank).machine; }
  bool is_alive(int rank) const { return at(rank).is_alive; }
  bool is_doomed(int rank) const { return at(rank).is_doomed; }
  const std::string& violation() const { return violation_; }
  std::uint64_t messages_sent() const { return messages_sent_; }

  void list_actions(const Mischief& mischief, std::vector<Action>& out) const;
  static bool is_at_rest(const DecisionLogWorld& world, const std::vector<Action>& actions);
  int apply(const Action& action);
  // Delivers what `rank` ignores now and would ignore for ever.
  void deliver_ignored(int rank);
  std::string describe(const Action& action) const;
  std::vector<DecisionLogOutcome> outcomes() const;
  std::pair<std::uint64_t, std::uint64_t> digest() const;

 private:
  struct Process {
    explicit Process(const Machine& fresh) : machine(fresh) {}
    Machine machine;
    DecisionLogOutcome outcome;
    std::vector<Rank> suspects;
    std::uint32_t told = 0;  // bit of a rank: that it is suspected
    bool is_alive = true;
    bool is_doomed = false;
    bool has_left = false;  // rule 3
    bool wants_to_send = false;
  };
  struct Envelope {
    Message message;
    std::array<std::uint8_t, decisions_bound> decisions{};  // by number; those that it names
  };

  const Process& at(int rank) const { return processes_[static_cast<std::size_t>(rank)]; }
  Process& own(int rank) { return processes_[static_cast<std::size_t>(rank)]; }
  static Context context(const Process& process) {
    return {
        {0}, {process.suspects.data(), static_cast<std::uint32_t>(process.suspects.size())}, {}};
  }
  bool suspects(int rank, int other) const {
    return context(at(rank)).suspects.contains(rank_at(other));
  }
  bool is_there(int rank) const { return at(rank).is_alive && !at(rank).has_left; }
  bool may_go_on(const Process& process) const;
  bool may_end(const Process& process) const;
  std::size_t first_of(int from, int to) const;  // in flight; their number: none
  std::size_t last_of(int from, int to) const;

  void go_on(int rank);
  void deliver(int from, int to);
  void send(int rank);
  void answer_without_asking(int rank, const Message& inquiry);
  void suspect(int rank, int other);
  void crash(int rank);
  void drain(int rank);
  void note(int rank, const protocols::DecisionEvent& event, const Envelope& arrived);
  void complain(int rank, const std::string& what) {
    if (violation_.empty()) violation_ = "replica " + std::to_string(rank) + " " + what;
  }

  DecisionLogScene scene_;
  std::vector<Process> processes_;
  std::vector<Envelope> in_flight_;  // by receiver, then sender, then age
  std::uint64_t messages_sent_ = 0;
  std::string violation_;
};

}  // namespace resprout::sim
