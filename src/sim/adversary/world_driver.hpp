// World, second half: the driver of the contract in core/protocol.hpp for symbolic payloads.
// Included by world.hpp.
// Thread rule: as World.
#pragma once

#include "sim/adversary/world.hpp"

namespace resprout::sim {

template <Machine M>
int World<M>::apply(const Action& action) {
  switch (action.kind) {
    case ActionKind::enter:
      enter(action.a);
      break;
    case ActionKind::deliver:
      deliver(action.a, action.b);
      return action.b;
    case ActionKind::send:
      return send(action.a);
    case ActionKind::wake:
      wake(action.a);
      break;
    case ActionKind::suspect:
      suspect(action.a, action.b);
      break;
    case ActionKind::crash:
      crash(action.a);
      break;
    case ActionKind::lose:
      in_flight_.erase(channel(action.a, action.b).second - 1);
      break;
    case ActionKind::corrupt:
    case ActionKind::interrupt:
      break;
  }
  return action.a;
}

template <Machine M>
void World<M>::enter(int rank) {
  Process& process = own(rank);
  if (!process.has_entered)
    process.machine.start(context(process));
  else if constexpr (CalledMachine<M>)
    process.machine.handle_call(context(process));
  process.has_entered = true;
  drain(rank, nullptr);
}

template <Machine M>
void World<M>::deliver(int from, int to) {
  const auto first = channel(from, to).first;
  const Envelope envelope = *first;
  in_flight_.erase(first);
  Process& process = own(to);
  if (process.machine.handle_message(context(process), envelope.message) == Disposition::keep) {
    process.mailbox.push_back(envelope.message);
    process.kept.push_back(envelope.payload);
  }
  drain(to, &envelope);
}

template <Machine M>
bool World<M>::ignores(const Process& process, const Message& message) const {
  M copy = process.machine;
  if (copy.handle_message(context(process), message) == Disposition::keep) return false;
  if (copy.poll_event(context(process))) return false;
  // Machines have no padding, so that equal bytes are equal states.
  return std::memcmp(&copy, &process.machine, sizeof(M)) == 0;  // NOLINT(bugprone-suspicious-*)
}

template <Machine M>
void World<M>::deliver_ignored(int rank) {
  const Process& process = at(rank);
  if (!process.is_alive || !process.has_entered) return;
  for (int from = 0; from < procs(); ++from)
    for (auto first = channel(from, rank).first;
         first != in_flight_.end() && index(first->message.to) == rank &&
         index(first->message.from) == from && ignores(process, first->message);)
      first = in_flight_.erase(first);
}

template <Machine M>
int World<M>::send(int rank) {
  Process& process = own(rank);
  auto message = process.machine.poll_send(context(process));
  if (offers_corrections_ && message->kind == MessageKind::correction) message->slot = Slot::none;
  Envelope envelope{*message, payload_in(process, message->slot)};
  if (message->slot != Slot::none && !says_something(envelope.payload))
    complain(rank, "sends a payload that it does not have");
  const int to = index(message->to);
  if (to < 0 || to >= procs() || to == rank || index(message->from) != rank) {
    complain(rank, "sends a message from or to nobody");
    return rank;
  }
  if (message->kind == MessageKind::revocation) note_told(rank, to);
  ++messages_sent_;
  // The receiver has no use for the sender's slot, only for whether a payload came along.
  if (message->slot != Slot::none) envelope.message.slot = Slot::input;
  if (at(to).is_alive) in_flight_.insert(channel(rank, to).second, envelope);
  drain(rank, nullptr);
  return to;
}

template <Machine M>
void World<M>::note_told(int rank, int to) {
  Process& process = own(rank);
  const std::uint64_t bit = std::uint64_t{1} << to;
  if (process.delivered == 0) complain(rank, "says that it is revoked, and is not");
  if ((process.told & bit) != 0) complain(rank, "tells " + std::to_string(to) + " twice");
  process.told |= bit;
}

template <Machine M>
void World<M>::wake(int rank) {
  Process& process = own(rank);
  now_ = std::max(now_, process.deadline);
  process.machine.handle_timeout(context(process));
  drain(rank, nullptr);
}

template <Machine M>
void World<M>::suspect(int rank, int suspected) {
  if (!at(suspected).is_doomed) own(suspected).is_doomed = true;
  Process& process = own(rank);
  auto& suspects = process.suspects;
  const Rank name = rank_at(suspected);
  suspects.insert(std::lower_bound(suspects.begin(), suspects.end(), name), name);
  if (!process.has_entered) return;
  process.machine.handle_suspicion(context(process), name);
  drain(rank, nullptr);
}

template <Machine M>
void World<M>::crash(int rank) {
  Process& process = own(rank);
  process.is_alive = false;
  process.is_doomed = true;
  process.deadline = never;
  std::erase_if(in_flight_,
                [rank](const Envelope& envelope) { return index(envelope.message.to) == rank; });
}

template <Machine M>
void World<M>::drain(int rank, const Envelope* handled) {
  Process& process = own(rank);
  while (const auto event = process.machine.poll_event(context(process)))
    obey(rank, *event, handled);
  M copy = process.machine;
  process.wants_to_send = copy.poll_send(context(process)).has_value();
  process.deadline = process.machine.poll_timeout(context(process)).at;
}

template <Machine M>
Payload World<M>::payload_in(const Process& process, Slot slot) {
  switch (slot) {
    case Slot::none:
      return {};
    case Slot::input:
      return process.input;
    case Slot::accumulator:
      return process.accumulator;
    case Slot::result:
      return process.result;
  }
  return {};
}

// The payload of a kept message, which is kept no longer, or of the one just handled.
template <Machine M>
Payload World<M>::take(Process& process, const Message& subject, const Envelope* handled) {
  const auto kept = std::find(process.mailbox.begin(), process.mailbox.end(), subject);
  if (kept != process.mailbox.end()) {
    const auto payload = process.kept.begin() + (kept - process.mailbox.begin());
    const Payload taken = *payload;
    process.mailbox.erase(kept);
    process.kept.erase(payload);
    return taken;
  }
  if (handled != nullptr && handled->message == subject) return handled->payload;
  complain(index(subject.to), "speaks of a message that it neither kept nor just got");
  return {};
}

template <Machine M>
void World<M>::forget(Process& process, std::uint32_t below_round) {
  for (std::size_t i = process.mailbox.size(); i-- > 0;) {
    if (process.mailbox[i].round >= below_round) continue;
    process.mailbox.erase(process.mailbox.begin() + static_cast<std::ptrdiff_t>(i));
    process.kept.erase(process.kept.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

template <Machine M>
bool World<M>::may_fold(const Payload& lower, const Payload& upper) const {
  if (folding_ == Folding::in_order) return are_in_order(lower, upper);
  return folding_ == Folding::freely || (lower.contributors & upper.contributors) == 0;
}

template <Machine M>
void World<M>::obey(int rank, const Event& event, const Envelope* handled) {
  Process& process = own(rank);
  const Message& subject = event.subject;
  switch (event.kind) {
    case EventKind::colored:
      process.result = take(process, subject, handled);
      if (!process.result.is_present()) complain(rank, "is colored without a payload");
      break;
    case EventKind::combine: {
      const Payload upper = take(process, subject, handled);
      if (!says_something(upper)) complain(rank, "combines a message without a payload");
      if (!may_fold(process.accumulator, upper))
        complain(rank,
                 "folds process " + std::to_string(index(subject.from)) + " twice or out of order");
      process.accumulator.contributors |= upper.contributors;
      process.accumulator.excluded |= upper.excluded;
      break;
    }
    case EventKind::adopt:
      process.accumulator = take(process, subject, handled);
      if (!says_something(process.accumulator))
        complain(rank, "adopts a message without a payload");
      break;
    case EventKind::restart:
      forget(process, subject.round);
      process.accumulator = payload_in(process, subject.slot);
      break;
    case EventKind::exclude:
      process.accumulator.excluded |= std::uint64_t{1} << position(subject.from);
      break;
    case EventKind::deliver:
      ++process.delivered;
      if (index(subject.from) == rank)
        process.result = process.accumulator;
      else if (subject.slot != Slot::none && !process.result.is_present())
        process.result = take(process, subject, handled);
      break;
    case EventKind::fail:
      ++process.failed;
      break;
    case EventKind::suspect:
      break;
    case EventKind::revoked:  // its result is whose word that was
      if (index(subject.from) != rank && (handled == nullptr || handled->message != subject))
        complain(rank, "speaks of a message that it did not just get");
      ++process.delivered;
      process.result.contributors = std::uint64_t{1} << position(subject.from);
      break;
  }
}

}  // namespace resprout::sim
