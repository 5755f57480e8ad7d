// See native_scan.hpp. The library comes first, then the settlement.
#include "protocols/native_scan/native_scan.hpp"

namespace resprout::protocols {

NativeScan::NativeScan(const Config& config, Rank self)
    : settlement_(config, self), config_(&config), self_(index(self)) {}

// Who knows of a loss does not enter the library.
void NativeScan::start(const Context& context) {
  if (!context.suspects.empty()) become_settling(context);
}

Disposition NativeScan::handle_message(const Context& context, const Message& message) {
  if (message.kind == MessageKind::tree)
    return is_settling() || has_sum_ != 0 ? Disposition::done : Disposition::keep;
  if (!is_settling()) become_settling(context);
  return settlement_.handle_message(context, message);
}

void NativeScan::handle_suspicion(const Context& context, Rank rank) {
  if (is_settling())
    settlement_.handle_suspicion(context, rank);
  else
    become_settling(context);
}

void NativeScan::become_settling(const Context& context) {
  is_settling_ = 1;
  if (has_sum_ != 0) settlement_.begin_summed();
  settlement_.start(context);
}

std::optional<Event> NativeScan::poll_event(const Context& context) {
  if (!is_settling()) return next_native_event(context);
  while (auto event = settlement_.poll_event(context)) {
    if (event->kind == EventKind::deliver) {
      if (has_returned()) continue;
      has_returned_ = 1;
    }
    return event;
  }
  return std::nullopt;
}

std::optional<Event> NativeScan::next_native_event(const Context& context) {
  if (has_returned()) return std::nullopt;
  const Rank self = rank_at(self_);
  if (has_sum_ == 0 && self_ != 0) {
    const Message* kept = context.mailbox.find(MessageKind::tree, 0, rank_at(self_ - 1));
    if (kept == nullptr) return std::nullopt;
    has_sum_ = 1;
    return Event{EventKind::combine, *kept};
  }
  has_sum_ = 1;
  has_returned_ = 1;
  return Event{EventKind::deliver, {.from = self, .to = self, .slot = Slot::accumulator}};
}

std::optional<Message> NativeScan::poll_send(const Context& context) {
  if (is_settling()) return settlement_.poll_send(context);
  if (has_sum_ == 0 || has_told_ != 0 || self_ + 1 == config_->procs) return std::nullopt;
  has_told_ = 1;
  return Message{.from = rank_at(self_), .to = rank_at(self_ + 1), .slot = Slot::accumulator};
}

}  // namespace resprout::protocols
