// See native_until_loss.hpp. The library comes first, then the settlement, then the redo.
#include "protocols/native_until_loss/native_until_loss.hpp"

namespace resprout::protocols {

NativeUntilLoss::NativeUntilLoss(const Config& config, Rank self)
    : settlement_(config.settlement, self),
      redo_(config.redo, self),
      config_(&config),
      self_(index(self)),
      cursor_(index(self) + 1) {}

// Who knows of a loss does not enter the library.
void NativeUntilLoss::start(const Context& context) {
  if (!context.suspects.empty()) become_settling(context);
}

Disposition NativeUntilLoss::handle_message(const Context& context, const Message& message) {
  if (message.kind == MessageKind::tree) return handle_native(message);
  if (message.round % 2 == 0) {
    if (phase_ == Phase::native) become_settling(context);
    return settlement_.handle_message(context, message);
  }
  if (phase_ == Phase::redoing) return redo_.handle_message(context, message);
  // A contribution that comes before its time. (A result of the redo would be: of others that
  // suspect this process. Nothing is lost with it.)
  return phase_ == Phase::settled ? Disposition::done : Disposition::keep;
}

void NativeUntilLoss::handle_suspicion(const Context& context, Rank rank) {
  if (phase_ == Phase::native) {
    become_settling(context);
    return;
  }
  settlement_.handle_suspicion(context, rank);
  if (phase_ == Phase::redoing) redo_.handle_suspicion(context, rank);
}

std::optional<Event> NativeUntilLoss::poll_event(const Context& context) {
  if (phase_ == Phase::native) return next_native_event(context);
  if (auto event = next_settlement_event(context)) return event;
  return phase_ == Phase::redoing ? next_redo_event(context) : std::nullopt;
}

std::optional<Message> NativeUntilLoss::poll_send(const Context& context) {
  if (auto message = next_native_send()) return message;
  if (phase_ == Phase::native) return std::nullopt;
  if (auto message = settlement_.poll_send(context)) {
    message->slot = source_;
    return message;
  }
  return phase_ == Phase::redoing ? redo_.poll_send(context) : std::nullopt;
}

Message NativeUntilLoss::message_to(std::int32_t rank, MessageKind kind, Slot slot) const {
  return {.from = rank_at(self_), .to = rank_at(rank), .kind = kind, .slot = slot};
}

// --- the library
// --------------------------------------------------------------------------------

Disposition NativeUntilLoss::handle_native(const Message& message) {
  if (phase_ != Phase::native) return Disposition::done;
  if (index(message.from) > self_) return Disposition::keep;
  arrived_ = message;
  has_arrived_ = true;
  return Disposition::done;
}

Event NativeUntilLoss::end_natively(const Message& subject) {
  library_ = Library::ended;
  cursor_ = self_ + 1;
  has_result_ = true;
  return {EventKind::deliver, subject};
}

std::optional<Event> NativeUntilLoss::next_native_event(const Context& context) {
  if (has_arrived_) {
    has_arrived_ = false;
    return end_natively(arrived_);
  }
  if (library_ != Library::gathering) return std::nullopt;
  if (cursor_ < end()) {
    const Message* kept = context.mailbox.find(MessageKind::tree, 0, rank_at(cursor_));
    if (kept == nullptr) return std::nullopt;
    cursor_ += tree().size(cursor_);
    return Event{EventKind::combine, *kept};
  }
  library_ = Library::sending;
  if (self_ != 0) return std::nullopt;
  return end_natively(message_to(self_, MessageKind::tree, Slot::accumulator));
}

std::optional<Message> NativeUntilLoss::next_native_send() {
  if (library_ == Library::sending && phase_ == Phase::native) {
    library_ = Library::waiting;
    const Slot slot = is_inner() ? Slot::accumulator : Slot::input;
    return message_to(tree().parent(self_), MessageKind::tree, slot);
  }
  if (library_ != Library::ended || cursor_ >= end()) return std::nullopt;
  const std::int32_t child = cursor_;
  cursor_ += tree().size(child);
  return message_to(child, MessageKind::tree, Slot::result);
}

// --- the settlement
// -----------------------------------------------------------------------------

void NativeUntilLoss::become_settling(const Context& context) {
  phase_ = Phase::settling;
  source_ = known();
  settlement_.start(context);
}

std::optional<Event> NativeUntilLoss::next_settlement_event(const Context& context) {
  while (auto event = settlement_.poll_event(context)) {
    switch (event->kind) {
      case EventKind::combine:  // any result will do
        if (event->subject.slot == Slot::none) continue;
        [[fallthrough]];
      case EventKind::adopt:
        if (!maybe_take(event->subject)) continue;
        event->kind = EventKind::adopt;
        return event;
      case EventKind::restart:
        source_ = event->subject.slot = known();
        if (phase_ == Phase::redoing) continue;
        return event;
      case EventKind::deliver:
        if (auto end = end_settlement(context, *event)) return end;
        continue;
      default:
        continue;  // nobody's contribution is missed
    }
  }
  return std::nullopt;
}

// Makes the result of `subject`, or that there is none, what the settlement speaks of. True if the
// driver has to adopt it.
bool NativeUntilLoss::maybe_take(const Message& subject) {
  const bool is_new = subject.slot != Slot::none && source_ == Slot::none && !has_result_;
  if (subject.slot == Slot::none)
    source_ = Slot::none;
  else if (is_new)
    source_ = Slot::accumulator;
  else if (source_ == Slot::none)
    source_ = Slot::result;
  if (is_new && phase_ == Phase::redoing) phase_ = Phase::settled;
  return is_new;
}

std::optional<Event> NativeUntilLoss::end_settlement(const Context& context,
                                                     const Event& decision) {
  const bool is_own = index(decision.subject.from) == self_;
  const bool is_valid = is_own ? source_ != Slot::none : decision.subject.slot != Slot::none;
  if (is_valid || has_result_) {
    const bool had_result = has_result_;
    phase_ = Phase::settled;
    has_result_ = true;
    source_ = is_valid ? Slot::result : Slot::none;
    return had_result ? std::nullopt : std::optional(decision);
  }
  source_ = Slot::none;
  phase_ = Phase::redoing;
  redo_.start(context);
  Message input = message_to(self_, MessageKind::contribution, Slot::input);
  input.round = decision.subject.round;
  return Event{EventKind::restart, input};
}

// --- the redo
// -----------------------------------------------------------------------------------

// When it restarts, the settlement's messages of the same round are still needed.
std::optional<Event> NativeUntilLoss::next_redo_event(const Context& context) {
  auto event = redo_.poll_event(context);
  if (event && event->kind == EventKind::restart) --event->subject.round;
  return event;
}

}  // namespace resprout::protocols
