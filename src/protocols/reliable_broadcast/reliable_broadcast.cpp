// See reliable_broadcast.hpp.
#include "protocols/reliable_broadcast/reliable_broadcast.hpp"

#include "core/invariant.hpp"

namespace resprout::protocols {

template <Dissemination D>
ReliableBroadcastOf<D>::ReliableBroadcastOf(const Config& config, Rank self)
    : dissemination_(config.dissemination, self),
      settlement_(config.settlement, self),
      config_(&config),
      self_(self) {
  RESPROUT_INVARIANT(!config.dissemination.needs_common_clock());
}

template <Dissemination D>
void ReliableBroadcastOf<D>::start(const Context& context) {
  dissemination_.start(context);
  if (!is_root() && context.suspects.contains(root())) {
    become_settling(context);
  } else {
    lose_patience_if_missed(context);
  }
}

template <Dissemination D>
void ReliableBroadcastOf<D>::lose_patience_if_missed(const Context& context) {
  if (patience_ != Patience::unlimited || has_payload()) return;
  if (!dissemination_.may_be_missed(context)) return;
  patience_ = Patience::running;
  patience_end_ = context.now + config_->patience;
}

template <Dissemination D>
void ReliableBroadcastOf<D>::become_settling(const Context& context) {
  if (is_settling_) return;
  is_settling_ = true;
  dissemination_.freeze();
  source_ = own_slot_or_none();
  settlement_.start(context);
}

template <Dissemination D>
Disposition ReliableBroadcastOf<D>::handle_message(const Context& context, const Message& message) {
  switch (message.kind) {
    case MessageKind::correction:
      if (message.slot == Slot::none) {
        handle_offer(context, message);
        return Disposition::done;
      }
      return dissemination_.handle_message(context, message);
    case MessageKind::tree:
      return dissemination_.handle_message(context, message);
    case MessageKind::pull:
      return Disposition::keep;
    case MessageKind::supply:
      dissemination_.handle_supply(context, message);
      return Disposition::done;
    case MessageKind::contribution:
      return is_settling_ ? settlement_.handle_message(context, message) : Disposition::keep;
    case MessageKind::result:
      // Others suspect the root, so this process will.
      become_settling(context);
      return settlement_.handle_message(context, message);
    case MessageKind::heartbeat:
    case MessageKind::acknowledgment:
    case MessageKind::keepalive:
    case MessageKind::revocation:
      break;
  }
  return Disposition::done;
}

template <Dissemination D>
void ReliableBroadcastOf<D>::handle_timeout(const Context& context) {
  dissemination_.handle_timeout(context);
  if (patience_ == Patience::running && context.now >= patience_end_) patience_ = Patience::over;
}

template <Dissemination D>
void ReliableBroadcastOf<D>::handle_offer(const Context& context, const Message& message) {
  dissemination_.handle_offer(context, message);
  const bool is_wanted = !is_settling_ && !has_payload() && offerer_ == no_rank;
  if (is_wanted && !context.suspects.contains(message.from)) offerer_ = message.from;
}

template <Dissemination D>
void ReliableBroadcastOf<D>::handle_suspicion(const Context& context, Rank rank) {
  if (rank == offerer_) offerer_ = no_rank;
  if (rank == asked_) asked_ = no_rank;
  if (is_settling_)
    settlement_.handle_suspicion(context, rank);
  else if (rank == root() && !is_root())
    become_settling(context);
  else
    lose_patience_if_missed(context);
}

template <Dissemination D>
std::optional<Event> ReliableBroadcastOf<D>::poll_event(const Context& context) {
  if (auto event = dissemination_.poll_event(context)) {
    if (event->kind == EventKind::deliver) has_ended_ = true;
    return event;
  }
  return is_settling_ ? next_settlement_event(context) : std::nullopt;
}

template <Dissemination D>
std::optional<Event> ReliableBroadcastOf<D>::next_settlement_event(const Context& context) {
  while (auto event = settlement_.poll_event(context)) {
    switch (event->kind) {
      case EventKind::combine:  // any payload will do
        if (event->subject.slot == Slot::none || !maybe_take(event->subject)) continue;
        event->kind = EventKind::adopt;
        return event;
      case EventKind::adopt:
        if (!maybe_take(event->subject)) continue;
        return event;
      case EventKind::restart:
        source_ = event->subject.slot = own_slot_or_none();
        return event;
      case EventKind::deliver: {
        const bool had_ended = has_ended_;
        const Event end = end_settlement(*event);
        if (had_ended) continue;
        return end;
      }
      default:
        continue;  // nobody's contribution is missed
    }
  }
  return std::nullopt;
}

// Makes the payload of `subject`, or that there is none, what the settlement speaks of. True if the
// driver has to adopt it.
template <Dissemination D>
bool ReliableBroadcastOf<D>::maybe_take(const Message& subject) {
  const bool is_new = subject.slot != Slot::none && source_ == Slot::none && !has_payload();
  if (subject.slot == Slot::none)
    source_ = Slot::none;
  else if (is_new)
    source_ = Slot::accumulator;
  else if (source_ == Slot::none)
    source_ = own_slot();
  return is_new;
}

template <Dissemination D>
Event ReliableBroadcastOf<D>::end_settlement(const Event& decision) {
  const bool is_own = decision.subject.from == self_;
  const bool is_payload = is_own ? source_ != Slot::none : decision.subject.slot != Slot::none;
  if (is_payload && !has_ended_) is_settled_with_payload_ = true;
  has_ended_ = true;
  source_ = is_payload ? own_slot() : Slot::none;
  return {is_payload ? EventKind::deliver : EventKind::fail, decision.subject};
}

template <Dissemination D>
Message ReliableBroadcastOf<D>::message_to(Rank rank, MessageKind kind, Slot slot) const {
  Message message;
  message.from = self_;
  message.to = rank;
  message.kind = kind;
  message.slot = slot;
  return message;
}

template <Dissemination D>
std::optional<Message> ReliableBroadcastOf<D>::poll_send(const Context& context) {
  if (auto pull = next_pull(context)) return pull;
  if (has_payload())
    if (auto supply = next_supply(context)) return supply;
  if (auto message = dissemination_.poll_send(context)) return message;
  if (!is_settling_) return std::nullopt;
  auto message = settlement_.poll_send(context);
  if (message) message->slot = source_;
  return message;
}

// From who has offered the payload, if the dissemination may not bring it; from the root, if
// patience is over.
template <Dissemination D>
std::optional<Message> ReliableBroadcastOf<D>::next_pull(const Context& context) {
  if (has_payload() || is_settling_ || asked_ != no_rank) return std::nullopt;
  if (offerer_ != no_rank && dissemination_.needs_correction(context))
    asked_ = offerer_;
  else if (patience_ == Patience::over)
    asked_ = root();
  else
    return std::nullopt;
  return message_to(asked_, MessageKind::pull, Slot::none);
}

// The kept pulls are the memory of who has asked: they stay in the order of their arrival.
template <Dissemination D>
std::optional<Message> ReliableBroadcastOf<D>::next_supply(const Context& context) {
  std::uint32_t pulls = 0;
  for (std::uint32_t i = 0; i < context.mailbox.count; ++i) {
    const Message& kept = context.mailbox.begin[i];
    if (kept.kind != MessageKind::pull || pulls++ < answered_) continue;
    ++answered_;
    if (!context.suspects.contains(kept.from))
      return message_to(kept.from, MessageKind::supply, own_slot());
  }
  return std::nullopt;
}

template <Dissemination D>
Deadline ReliableBroadcastOf<D>::poll_timeout(const Context& context) const {
  const Deadline correction = dissemination_.poll_timeout(context);
  const bool waits = patience_ == Patience::running && !has_payload() && !is_settling_;
  if (!waits || asked_ != no_rank || correction.at < patience_end_) return correction;
  return {patience_end_, "patience before asking the root for the payload"};
}

template <Dissemination D>
Rank ReliableBroadcastOf<D>::next_due(const Context& context, std::int32_t& place) const {
  if (is_settling_) return settlement_.next_due(context, place);
  if (has_payload()) return no_rank;
  if (asked_ == no_rank) return dissemination_.next_supplier(context, place);
  return place++ == 0 ? asked_ : no_rank;
}

template class ReliableBroadcastOf<CorrectedTree>;
template class ReliableBroadcastOf<CorrectedGossip>;

}  // namespace resprout::protocols
