// See patient_allreduce.hpp. The functions stand in the order in which an operation meets them.
#include "protocols/patient_allreduce/patient_allreduce.hpp"

#include "core/invariant.hpp"

namespace resprout::protocols {

PatientAllreduce::PatientAllreduce(const Config& config, Rank self)
    : allreduce_(config.allreduce, self), config_(&config) {
  RESPROUT_INVARIANT(config.patience >= 0);
}

void PatientAllreduce::handle_call(const Context& context) {
  RESPROUT_INVARIANT(!has_called());
  has_called_ = 1;
  if (is_late()) return;
  asks_at_ = context.now + config_->patience;
  allreduce_.start(context);
}

// A result before the own contribution is of others who have lost this process. It is told all the
// same, and takes part in nothing any more.
Disposition PatientAllreduce::handle_message(const Context& context, const Message& message) {
  if (!is_in()) {
    if (message.kind == MessageKind::contribution) return Disposition::keep;
    become_late(context);
  }
  if (message.kind != MessageKind::pull) return allreduce_.handle_message(context, message);
  is_impatient_ = 1;
  return Disposition::done;
}

void PatientAllreduce::become_late(const Context& context) {
  is_late_ = 1;
  is_impatient_ = 1;
  has_to_empty_ = 1;
  allreduce_.start(context);
}

void PatientAllreduce::handle_timeout(const Context& context) {
  if (context.now >= asks_at_) is_impatient_ = 1;
}

void PatientAllreduce::handle_suspicion(const Context& context, Rank rank) {
  if (!is_in()) return;
  asked_round_ = -1;  // others are due now
  allreduce_.handle_suspicion(context, rank);
}

std::optional<Event> PatientAllreduce::poll_event(const Context& context) {
  if (!is_in()) return std::nullopt;
  if (has_to_empty_ != 0) {
    has_to_empty_ = 0;
    has_to_exclude_ = 1;
    return Event{EventKind::restart,
                 own(MessageKind::contribution, allreduce_.rank_of(allreduce_.self()))};
  }
  if (has_to_exclude_ != 0) {
    has_to_exclude_ = 0;
    return Event{EventKind::exclude,
                 own(MessageKind::contribution, allreduce_.rank_of(allreduce_.self()))};
  }
  auto event = allreduce_.poll_event(context);
  const bool begins_anew = event && event->kind == EventKind::restart;
  if (begins_anew && is_late() && event->subject.slot == Slot::input) {
    event->subject.slot = Slot::none;
    has_to_exclude_ = 1;
  }
  return event;
}

std::optional<Message> PatientAllreduce::poll_send(const Context& context) {
  if (!is_in()) return std::nullopt;
  auto message = allreduce_.poll_send(context);
  if (!message) return next_question(context);
  if (is_late() && message->slot == Slot::input) message->slot = Slot::accumulator;
  return message;
}

std::optional<Message> PatientAllreduce::next_question(const Context& context) {
  if (is_impatient_ == 0) return std::nullopt;
  const std::uint8_t is_above = allreduce_.is_collecting() ? 0 : 1;
  const bool is_same = asked_round_ == allreduce_.round() && has_asked_above_ == is_above;
  std::int32_t place = is_same ? asked_ : 0;
  const Rank due = allreduce_.next_due(context, place);
  if (due == no_rank) return std::nullopt;
  asked_ = place;
  asked_round_ = allreduce_.round();
  has_asked_above_ = is_above;
  return own(MessageKind::pull, due);
}

Deadline PatientAllreduce::poll_timeout(const Context&) const {
  if (!has_called() || is_impatient_ != 0 || allreduce_.is_done()) return {};
  return {asks_at_, "the call of a process that has not made it yet"};
}

Message PatientAllreduce::own(MessageKind kind, Rank to) const {
  const std::uint32_t rounds = static_cast<std::uint32_t>(allreduce_.round());
  return {.from = allreduce_.rank_of(allreduce_.self()),
          .to = to,
          .round = config_->allreduce.first_round + rounds * config_->allreduce.round_step,
          .kind = kind};
}

}  // namespace resprout::protocols
