// Runs one operation of P processes in FTCO's model of steps.
//
// FTCO, sections 2 and 5.2, Algorithms 1, 2 and 5. Time goes in steps of o. In each step a process
// sends one message or receives one; there is one port for both.
//
// Invariants
//  1. A message that is sent in the step at t lies in the receiver's queue from the step at t+L+o
//     on.
//  2. A step is spent on the first of these that there is: an answer for which somebody's patience
//     runs out; DATA to send; a message of the attended
//     distance to receive, DATA before KEEPALIVE before ACK, then in the order of arrival; an
//     answer or a question to that distance to send; then both of any distance. Contacts of a
//     distance are found dead only after all messages of that distance have been received.
//  3. A process that has not entered answers DATA, which stays in its queue, and KEEPALIVE, and
//     does nothing else.
//  4. A process that dies at t does nothing from t on; what it sent before arrives.
//  5. Each process has suspects of its own: what it has found out by itself.
//  6. The operation ends when nobody alive has anything left to do; what would be said later is not
//     counted.
// Event-driven: a process that has nothing to do until a known time is not looked at. What a step
// of one process does depends on nothing that others do in the same step.
//
// Thread rule: one thread an engine.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/protocol.hpp"
#include "sim/logp/engine.hpp"
#include "sim/logp/mailboxes.hpp"
#include "sim/steps/inbound_queues.hpp"

namespace resprout::sim {

// A machine that shares out its steps by distance in a tree.
template <typename M>
concept SteppedMachine =
    Machine<M> && requires(M machine, const M constant, const Context& context,
                           const Message& message, std::int32_t distance, Rank rank) {
      { machine.handle_arrival(context, message) } -> std::same_as<void>;
      { machine.look_after(context, distance) } -> std::same_as<void>;
      { machine.poll_urgent(context) } -> std::same_as<std::optional<Message>>;
      { machine.poll_data(context) } -> std::same_as<std::optional<Message>>;
      { machine.poll_answer(context, distance) } -> std::same_as<std::optional<Message>>;
      { constant.service_distance(context.now) } -> std::same_as<std::int32_t>;
      { constant.distance_to(rank) } -> std::same_as<std::int32_t>;
      { constant.is_done() } -> std::same_as<bool>;
    };

// What is measured of an operation, in ticks from time 0.
struct StepTotals {
  std::int64_t messages = 0;
  std::int64_t keepalives = 0;
  Time first_finish = never;  // of the live ones but the root: the first, and the last one, whose
  Time last_finish{};         // part was over
  Time last_entry{};          // of a live one
  std::int32_t longest_queue = 0;     // of a live one
  std::int64_t false_suspicions = 0;  // somebody was suspected who still ran
  std::uint64_t digest = 0;
  bool has_ended = false;  // false: nothing more will happen, and somebody is still waiting
};

template <SteppedMachine M, Observer O>
class StepEngine {
 public:
  // `machines`: not started, one a rank; each run begins with copies of them.
  StepEngine(Duration latency, Duration overhead, std::vector<M> machines)
      : travel_(latency + overhead),
        overhead_(overhead),
        fresh_(std::move(machines)),
        queues_(procs()),
        mailboxes_(procs()),
        arrivals_(2 * travel_),
        looks_(looks_ahead),
        few_contacts_(fresh_.size() * few) {
    for (const M& machine : fresh_) processes_.push_back({.value = {.machine = machine}});
    for (std::size_t i = 0; i < processes_.size(); ++i)
      processes_[i].value.contacts = {&few_contacts_[i * few], 0, few};
  }

  // One operation; what its machines refer to may have changed since they were made. `entries`:
  // when each process enters; empty: all at time 0.
  StepTotals run(std::span<const Death> deaths, std::span<const Time> entries, O& observer);

  // Of the operation that has run: whether the process was alive to the end.
  bool is_alive(Rank rank) const { return process(rank).dies > now_; }
  // What it has found out.
  std::span<const Rank> suspects(Rank rank) const { return processes_[at(rank)].suspects; }

 private:
  using Payload = typename O::Payload;
  using Entry = typename InboundQueues<Payload>::Entry;

  struct Process {
    M machine;
    Time looks_next = never;  // of all looks that are planned, only the one at this time counts
    Time dies = never;
    Time enters{};
    Contacts contacts;
    Time finished{};  // when it was done, if it is
    bool has_entered = false;
    bool is_done = false;
    bool is_buried = false;  // died before it was done
  };

  struct Slot {
    Process value;
    std::unique_ptr<Contact[]> contacts;  // if it has more than few
    std::vector<Rank> suspects;
  };

  struct Envelope {
    Message message;
    [[no_unique_address]] Payload payload;
  };

  // Deadlines are rarely farther away.
  static constexpr Duration looks_ahead = 4095;
  // Contacts that most processes are content with: they lie together.
  static constexpr std::uint32_t few = 4;

  std::int32_t procs() const { return static_cast<std::int32_t>(fresh_.size()); }
  static std::size_t at(Rank rank) { return static_cast<std::size_t>(index(rank)); }
  Process& process(Rank rank) { return processes_[at(rank)].value; }
  const Process& process(Rank rank) const { return processes_[at(rank)].value; }

  void reset(std::span<const Death> deaths, std::span<const Time> entries);
  void arrive(const Envelope& envelope);
  void bury();
  void look(Rank rank);
  bool act(Rank rank);
  bool act_early(Rank rank);
  bool receive(Rank rank, std::int32_t distance);
  bool answer(Rank rank, std::int32_t distance);
  void send(const Message& message);
  void look_at(Rank rank, Time when);
  void expect(Rank rank) const;
  const Context& see(Rank rank);
  void make_room(Slot& slot);
  void drain(Rank rank, const Entry* current);
  void obey(Rank rank, const Event& event, const Entry* current);
  void suspect(Rank rank, Rank suspected);
  void note_end(Rank rank);

  Duration travel_;
  Duration overhead_;
  std::vector<M> fresh_;
  std::vector<Slot> processes_;
  InboundQueues<Payload> queues_;
  Mailboxes<Payload> mailboxes_;
  TimeWheel<Envelope> arrivals_;
  TimeWheel<Rank> looks_;
  std::vector<Contact> few_contacts_;
  std::vector<Death> deaths_;  // that come, the last one first
  std::int64_t unfinished_ = 0;
  bool has_suspected_ = false;  // in the look at a process
  Time now_{};
  Context seen_{};
  Rank seen_by_ = no_rank;  // whose context `seen_` is, if it still is
  StepTotals totals_;
  Digest digest_;
  O* observer_ = nullptr;
};

}  // namespace resprout::sim

#include "sim/steps/engine_steps.hpp"
