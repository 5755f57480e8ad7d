// Machines with one rule broken on purpose: the explorer and the swarm must find out.
// Thread rule: values.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "core/protocol.hpp"

namespace resprout::sim {

// A defect changes what a machine is told. This one forwards everything.
template <Machine M>
class Defective {
 public:
  template <typename Config>
  Defective(const Config& config, Rank self) : machine_(config, self) {}

  void start(const Context& context) { machine_.start(context); }
  Disposition handle_message(const Context& context, const Message& message) {
    return machine_.handle_message(context, message);
  }
  void handle_timeout(const Context& context) { machine_.handle_timeout(context); }
  void handle_suspicion(const Context& context, Rank rank) {
    machine_.handle_suspicion(context, rank);
  }
  std::optional<Event> poll_event(const Context& context) { return machine_.poll_event(context); }
  std::optional<Message> poll_send(const Context& context) { return machine_.poll_send(context); }
  Deadline poll_timeout(const Context& context) const { return machine_.poll_timeout(context); }

 protected:
  M machine_;
};

// Allreduce without the promise of a round: the result of a lower round is taken as if it were of
// the round that this process is in. `parts`: rounds in messages to a round.
template <Machine M, std::uint32_t parts = 1>
class WithoutPromise : public Defective<M> {
 public:
  using Defective<M>::Defective;

  Disposition handle_message(const Context& context, const Message& message) {
    Message taken = message;
    if (message.kind == MessageKind::result) {
      std::uint32_t lowest = 0;
      while (context.suspects.contains(rank_at(static_cast<std::int32_t>(lowest)))) ++lowest;
      taken.round = std::max(taken.round, parts * lowest + taken.round % parts);
      round_before_ = message.round;
    }
    return this->machine_.handle_message(context, taken);
  }

  std::optional<Event> poll_event(const Context& context) {
    auto event = this->machine_.poll_event(context);
    if (event && event->subject.kind == MessageKind::result &&
        event->subject.from != event->subject.to)
      event->subject.round = round_before_;
    return event;
  }

 private:
  std::uint32_t round_before_ = 0;
  [[maybe_unused]] std::uint32_t padding_ = 0;
};

// Allreduce whose decided processes contribute as if they had not decided.
template <Machine M>
class WithoutMemory : public Defective<M> {
 public:
  using Defective<M>::Defective;

  std::optional<Message> poll_send(const Context& context) {
    auto message = this->machine_.poll_send(context);
    if (message && message->kind == MessageKind::contribution && message->tag != 0) {
      message->tag = 0;
      message->slot = Slot::input;
    }
    return message;
  }
};

// Native until a loss whose processes take part in the settlement as if they had not returned.
template <Machine M>
class WithoutReturn : public Defective<M> {
 public:
  using Defective<M>::Defective;

  std::optional<Message> poll_send(const Context& context) {
    auto message = this->machine_.poll_send(context);
    const bool is_settlement = message && message->round % 2 == 0;
    if (is_settlement && message->kind == MessageKind::contribution && message->tag == 0)
      message->slot = Slot::none;
    return message;
  }
};

// Any machine that is told of suspicions only at its start.
template <Machine M>
class WithoutSuspicions : public Defective<M> {
 public:
  using Defective<M>::Defective;

  void handle_suspicion(const Context&, Rank) {}
};

// Revoke whose notices go no further than to whom the initiators tell them.
template <Machine M>
class WithoutForwarding : public Defective<M> {
 public:
  using Defective<M>::Defective;

  std::optional<Event> poll_event(const Context& context) {
    auto event = this->machine_.poll_event(context);
    if (event && event->subject.from != event->subject.to) is_silent_ = 1;
    return event;
  }
  std::optional<Message> poll_send(const Context& context) {
    return is_silent_ != 0 ? std::nullopt : this->machine_.poll_send(context);
  }

 private:
  std::uint64_t is_silent_ = 0;
};

}  // namespace resprout::sim
