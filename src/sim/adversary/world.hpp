// An asynchronous world for any machine: everything that may happen next is an action, and somebody
// else chooses. The swarm chooses at random, the explorer chooses everything in turn.
//
// The rules of this world:
//  1. Messages between two processes arrive in order; between different pairs, in any order and as
//     late as the chooser likes. A machine's sends are actions of their own.
//  2. A crash may happen between any two actions. What was sent before may still arrive; from the
//     end of each channel, any part of it may be lost.
//  3. A suspicion is told to each process at any later time. A process may also be suspected while
//     it still runs; it is *doomed* then: it goes on until its crash, which comes.
//  4. A process enters the operation at any time. Messages for it wait until then.
//  5. Deadlines come when the chooser likes: time jumps there.
//
//  6. Corrections may travel without their payload, as offers: all or none of them.
//
// While it runs the world itself checks what can only be seen on the way: contributions are folded
// in order and nobody twice, no payload is sent or used by who does not have it, and only who is
// revoked says so, to nobody twice.
// Thread rule: a value; a copy is a fork.
#pragma once

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/protocol.hpp"
#include "core/random.hpp"
#include "sim/checkers/outcome.hpp"
#include "sim/checkers/payload.hpp"

namespace resprout::sim {

enum class ActionKind : std::uint8_t {
  enter,      // process a enters the operation; of a machine that is started before its call, both
  deliver,    // the first message on its way from a to b arrives
  send,       // a's free port takes a's next message
  wake,       // a's deadline comes
  suspect,    // a learns to suspect b
  crash,      // a dies
  lose,       // the last message on its way from the dead a to b is lost
  corrupt,    // something of a is silently corrupted; only in worlds of replicas
  interrupt,  // what a does is broken off; only in the world of shared slots
};

struct Action {
  ActionKind kind;
  std::uint8_t a;
  std::uint8_t b = 0;
  constexpr bool operator==(const Action&) const = default;
};

// What the chooser may still do to the processes.
struct Mischief {
  int crashes = 0;                   // how many more may die or become doomed
  bool suspects_the_living = false;  // rule 3, second part
  bool loses_messages = false;       // rule 2, second part
};

// What an operator asks of those who fold contributions.
enum class Folding : std::uint8_t {
  in_order,  // nobody twice, and in rank order
  once,      // nobody twice
  freely,    // nothing
};

// A machine that is started before its process makes its call, which may come too late.
template <typename M>
concept CalledMachine = requires(M machine, const M constant, const Context& context) {
  { machine.handle_call(context) } -> std::same_as<void>;
  { constant.has_called() } -> std::same_as<bool>;
  { constant.is_late() } -> std::same_as<bool>;
};

template <Machine M>
class World {
 public:
  // One machine, not started, and one input a process. `fold_root` is the rank at position 0 of the
  // order of folding. REQUIRES: at most 64 of them.
  World(const std::vector<M>& machines, const std::vector<Payload>& inputs, int fold_root,
        Folding folding = Folding::in_order)
      : fold_root_(fold_root), folding_(folding) {
    for (std::size_t i = 0; i < machines.size(); ++i)
      processes_.push_back(std::make_shared<Process>(machines[i], inputs[i]));
  }

  // Rule 6: all of them. Before anything happens.
  void offer_corrections() { offers_corrections_ = true; }
  // The call of `rank` never comes. Before anything happens.
  void keep_away(int rank)
    requires CalledMachine<M>
  {
    away_ |= std::uint64_t{1} << rank;
  }

  int procs() const { return static_cast<int>(processes_.size()); }
  const M& machine(int rank) const { return at(rank).machine; }
  bool is_alive(int rank) const { return at(rank).is_alive; }
  bool has_entered(int rank) const { return at(rank).has_entered; }
  bool is_doomed(int rank) const { return at(rank).is_doomed; }
  const std::string& violation() const { return violation_; }
  std::uint64_t messages_sent() const { return messages_sent_; }

  // All that may happen next. If it holds no action but crashes that need not be, the operation has
  // come to rest: `is_at_rest`.
  void list_actions(const Mischief& mischief, std::vector<Action>& out) const;
  static bool is_at_rest(const World& world, const std::vector<Action>& actions);

  // Returns the process that it reached: the actor, or who got or is sent a message.
  // REQUIRES: `action` is listed.
  int apply(const Action& action);
  // Delivers the messages for `rank` that it ignores now. A machine that ignores a message would
  // ignore it for ever, so this commutes with all that may happen: it merges worlds that differ in
  // nothing but when such messages arrive.
  void deliver_ignored(int rank);
  // What will happen, in words; to be asked before `apply`.
  std::string describe(const Action& action) const;

  // By position in the order of folding.
  std::vector<Outcome> outcomes() const;

  // Equal worlds have equal digests; 128 bits, so that unequal ones have not, but by a miracle.
  std::pair<std::uint64_t, std::uint64_t> digest() const;

 private:
  struct Envelope {
    Message message;
    Payload payload;
  };

  struct Process {
    Process(const M& fresh, const Payload& given)
        : machine(fresh), input(given), accumulator(given) {}

    M machine;
    Payload input;
    Payload accumulator;
    Payload result;
    std::vector<Rank> suspects;
    std::vector<Message> mailbox;
    std::vector<Payload> kept;  // the payloads of `mailbox`
    Time deadline = never;
    bool is_alive = true;
    bool is_doomed = false;
    bool has_entered = false;
    bool wants_to_send = false;
    std::uint8_t delivered = 0;
    std::uint8_t failed = 0;
    std::uint64_t told = 0;  // bit i: that rank has had its revocation
    // Of all of the above that counts; computed when it is asked for.
    mutable std::optional<std::pair<std::uint64_t, std::uint64_t>> digest;
  };

  const Process& at(int rank) const { return *processes_[static_cast<std::size_t>(rank)]; }
  // To be changed: forks share the processes in which they do not differ.
  Process& own(int rank) {
    std::shared_ptr<Process>& process = processes_[static_cast<std::size_t>(rank)];
    if (process.use_count() > 1) process = std::make_shared<Process>(*process);
    process->digest.reset();
    return *process;
  }
  int position(Rank rank) const { return (index(rank) - fold_root_ + procs()) % procs(); }
  Context context(const Process& process) const {
    return {now_,
            {process.suspects.data(), static_cast<std::uint32_t>(process.suspects.size())},
            {process.mailbox.data(), static_cast<std::uint32_t>(process.mailbox.size())}};
  }

  auto channel(int from, int to) const {
    const auto is_before = [](const Envelope& envelope, std::pair<int, int> key) {
      return std::pair{index(envelope.message.to), index(envelope.message.from)} < key;
    };
    return std::pair{
        std::lower_bound(in_flight_.begin(), in_flight_.end(), std::pair{to, from}, is_before),
        std::lower_bound(in_flight_.begin(), in_flight_.end(), std::pair{to, from + 1}, is_before)};
  }

  void enter(int rank);
  void deliver(int from, int to);
  int send(int rank);
  void note_told(int rank, int to);
  void wake(int rank);
  void suspect(int rank, int suspected);
  void crash(int rank);
  void drain(int rank, const Envelope* handled);
  void obey(int rank, const Event& event, const Envelope* handled);
  static std::pair<std::uint64_t, std::uint64_t> digest_of(const Process& process);
  bool ignores(const Process& process, const Message& message) const;
  static Payload payload_in(const Process& process, Slot slot);
  bool may_call(int rank) const;
  // Who is late may have nothing to say but who is left out.
  static bool says_something(const Payload& payload) {
    return payload.is_present() || (CalledMachine<M> && payload.excluded != 0);
  }
  Payload take(Process& process, const Message& subject, const Envelope* handled);
  bool may_fold(const Payload& lower, const Payload& upper) const;
  void forget(Process& process, std::uint32_t below_round);
  void complain(int rank, const std::string& what) {
    if (violation_.empty()) violation_ = "process " + std::to_string(rank) + " " + what;
  }

  int fold_root_;
  Folding folding_;
  bool offers_corrections_ = false;
  std::uint64_t away_ = 0;  // bit i: the call of that rank never comes
  Time now_{0};
  std::vector<std::shared_ptr<Process>> processes_;
  std::vector<Envelope> in_flight_;  // by receiver, then sender, then age
  std::uint64_t messages_sent_ = 0;
  std::string violation_;
};

}  // namespace resprout::sim

#include "sim/adversary/world_actions.hpp"
#include "sim/adversary/world_driver.hpp"
