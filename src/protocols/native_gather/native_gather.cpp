// See native_gather.hpp. The library comes first, then the settlement.
#include "protocols/native_gather/native_gather.hpp"

namespace resprout::protocols {

NativeGather::NativeGather(const Config& config, Rank self)
    : settlement_(config.settlement, self), config_(&config), self_(index(self)) {}

// Who knows of a loss does not enter the library.
void NativeGather::start(const Context& context) {
  if (!context.suspects.empty()) become_settling(context);
}

Disposition NativeGather::handle_message(const Context& context, const Message& message) {
  if (message.kind == MessageKind::tree)
    return is_settling() || has_returned() ? Disposition::done : Disposition::keep;
  if (!is_settling()) become_settling(context);
  return settlement_.handle_message(context, message);
}

void NativeGather::handle_suspicion(const Context& context, Rank rank) {
  if (is_settling())
    settlement_.handle_suspicion(context, rank);
  else
    become_settling(context);
}

std::optional<Event> NativeGather::poll_event(const Context& context) {
  if (!is_settling()) return next_native_event(context);
  if (has_to_restart_ != 0) {
    has_to_restart_ = 0;
    return Event{EventKind::restart, own(MessageKind::contribution, Slot::input, self_)};
  }
  while (auto event = settlement_.poll_event(context)) {
    if (event->kind == EventKind::deliver) {
      if (has_returned()) continue;
      has_returned_ = 1;
    }
    return event;
  }
  return std::nullopt;
}

std::optional<Message> NativeGather::poll_send(const Context& context) {
  if (is_settling()) return settlement_.poll_send(context);
  if (is_root() || has_given_ != 0) return std::nullopt;
  has_given_ = 1;
  return own(MessageKind::tree, Slot::input, 0);
}

Message NativeGather::own(MessageKind kind, Slot slot, std::int32_t to) const {
  return {.from = rank_at(self_), .to = rank_at(to), .kind = kind, .slot = slot};
}

void NativeGather::become_settling(const Context& context) {
  is_settling_ = 1;
  has_to_restart_ = is_root() && cursor_ > 1 ? 1 : 0;
  settlement_.start(context);
}

std::optional<Event> NativeGather::next_native_event(const Context& context) {
  if (has_returned()) return std::nullopt;
  if (!is_root()) {
    if (has_given_ == 0) return std::nullopt;
    has_returned_ = 1;
    return Event{EventKind::deliver, own(MessageKind::tree, Slot::none, self_)};
  }
  if (cursor_ < config_->procs) {
    const Message* kept = context.mailbox.find(MessageKind::tree, 0, rank_at(cursor_));
    if (kept == nullptr) return std::nullopt;
    ++cursor_;
    return Event{EventKind::combine, *kept};
  }
  has_returned_ = 1;
  const Slot sum = config_->procs > 1 ? Slot::accumulator : Slot::input;
  return Event{EventKind::deliver, own(MessageKind::tree, sum, self_)};
}

}  // namespace resprout::protocols
