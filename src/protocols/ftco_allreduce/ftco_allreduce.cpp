// See ftco_allreduce.hpp. The functions stand in the order in which an operation meets them.
#include "protocols/ftco_allreduce/ftco_allreduce.hpp"

#include <algorithm>

#include "core/invariant.hpp"

namespace resprout::protocols {

FtcoAllreduce::FtcoAllreduce(const FtcoAllreduceConfig& config, Rank self)
    : config_(&config), self_(virtual_rank_of(self)) {
  RESPROUT_INVARIANT(config.procs > 0 && config.radix >= 2);
  RESPROUT_INVARIANT(index(self) >= 0 && index(self) < config.procs);
  RESPROUT_INVARIANT(index(config.root) >= 0 && index(config.root) < config.procs);
}

Rank FtcoAllreduce::rank_of(std::int32_t virtual_rank) const {
  const std::int64_t shifted = std::int64_t{virtual_rank} + index(config_->root);
  return rank_at(static_cast<std::int32_t>(shifted % config_->procs));
}

std::int32_t FtcoAllreduce::virtual_rank_of(Rank rank) const {
  const std::int32_t shifted = index(rank) - index(config_->root);
  return shifted < 0 ? shifted + config_->procs : shifted;
}

bool FtcoAllreduce::is_suspected(const Context& context, std::int32_t virtual_rank) const {
  return context.suspects.contains(rank_of(virtual_rank));
}

std::int32_t FtcoAllreduce::lowest_unsuspected(const Context& context) const {
  std::int32_t lowest = 0;
  while (lowest != self_ && is_suspected(context, lowest)) ++lowest;
  return lowest;
}

std::int32_t FtcoAllreduce::nearest_ancestor(const Context& context) const {
  std::int32_t ancestor = tree().parent(self_);
  while (ancestor != round_ && is_suspected(context, ancestor)) ancestor = tree().parent(ancestor);
  return ancestor;
}

void FtcoAllreduce::start(const Context& context) {
  const std::int32_t lowest = lowest_unsuspected(context);
  if (!config_->result_everywhere && lowest != 0) {
    handle_suspicion(context, config_->root);
    return;
  }
  enter_round(lowest);
}

void FtcoAllreduce::enter_round(std::int32_t round) {
  round_ = round;
  phase_ = Phase::collecting;
  parent_ = -1;
  decision_ = decided_;
  slot_ = decided_ != 0 ? Slot::result : Slot::input;
  // A coordinator also answers for the ranks below it: all suspected, so it will exclude them.
  cursor_ = is_coordinator() ? 0 : self_;
  end_ = self_ + tree().size(self_);
}

Disposition FtcoAllreduce::handle_message(const Context&, const Message& message) {
  const auto round = static_cast<std::int32_t>(message.round);
  const bool is_stale = round < round_ || (round == round_ && phase_ != Phase::collecting);
  if (is_stale || phase_ == Phase::closed || round > self_) return Disposition::done;

  if (message.kind == MessageKind::contribution) {
    const bool is_counted = round == round_ && virtual_rank_of(message.from) < cursor_;
    return is_counted ? Disposition::done : Disposition::keep;
  }
  if (message.kind == MessageKind::result && round != self_) accept_result(message);
  return Disposition::done;
}

void FtcoAllreduce::accept_result(const Message& message) {
  round_ = static_cast<std::int32_t>(message.round);
  become_announcing();
  if (decided_ == 0) {
    decided_ = static_cast<std::uint16_t>(round_ + 1);
    slot_ = config_->result_everywhere ? Slot::result : Slot::none;
    raise(EventKind::deliver, message);
  } else if (cursor_ < end_) {
    slot_ = Slot::accumulator;
    raise(EventKind::adopt, message);
  }
}

void FtcoAllreduce::become_announcing() {
  phase_ = Phase::announcing;
  cursor_ = self_ + 1;
  end_ = self_ + tree().size(self_);
}

void FtcoAllreduce::handle_suspicion(const Context& context, Rank rank) {
  if (phase_ == Phase::closed) return;
  const std::int32_t suspect = virtual_rank_of(rank);
  if (!config_->result_everywhere && suspect == 0) {
    phase_ = Phase::closed;
    if (decided_ != 0) return;
    decided_ = 1;
    Message nothing = message_to(self_, MessageKind::result, Slot::none);
    nothing.from = rank;
    raise(EventKind::deliver, nothing);
    return;
  }
  if (is_suspected(context, round_)) {
    const std::int32_t lowest = lowest_unsuspected(context);
    if (lowest > round_) {
      enter_round(lowest);
      raise(EventKind::restart, message_to(self_, MessageKind::contribution, slot_));
      return;
    }
  }
  if (phase_ == Phase::announcing) reach_behind(context, suspect);
}

// The suspect may not have forwarded the result: whoever is the nearest one above it does so
// instead. Telling somebody twice is harmless, so the new interval and what is left of the old
// one may be joined to one.
void FtcoAllreduce::reach_behind(const Context& context, std::int32_t suspect) {
  if (suspect <= self_ || suspect >= self_ + tree().size(self_)) return;
  for (std::int32_t above = tree().parent(suspect); above != self_; above = tree().parent(above))
    if (!is_suspected(context, above)) return;
  const std::int32_t begin = suspect + 1;
  const std::int32_t end = suspect + tree().size(suspect);
  const bool is_idle = cursor_ >= end_;
  cursor_ = is_idle ? begin : std::min(cursor_, begin);
  end_ = is_idle ? end : std::max(end_, end);
}

std::optional<Event> FtcoAllreduce::poll_event(const Context& context) {
  if (has_pending_) {
    has_pending_ = false;
    return Event{pending_, subject_};
  }
  if (phase_ != Phase::collecting) return std::nullopt;
  while (cursor_ < end_) {
    const std::int32_t at = cursor_;
    if (at == self_) {
      ++cursor_;
      continue;
    }
    const auto round = static_cast<std::uint32_t>(round_);
    const Message* kept = context.mailbox.find(MessageKind::contribution, round, rank_of(at));
    if (kept != nullptr) {
      cursor_ += tree().size(at);
      if (kept->tag < decision_ || (kept->tag == decision_ && decision_ != 0)) continue;
      const bool is_partial = kept->tag == 0;
      decision_ = kept->tag;
      slot_ = Slot::accumulator;
      return Event{is_partial ? EventKind::combine : EventKind::adopt, *kept};
    }
    if (!is_suspected(context, at)) return std::nullopt;
    ++cursor_;
    if (decision_ != 0) continue;
    slot_ = Slot::accumulator;
    Message excluded = message_to(self_, MessageKind::contribution, Slot::none);
    excluded.from = rank_of(at);
    return Event{EventKind::exclude, excluded};
  }
  if (!is_coordinator()) return std::nullopt;
  decide_as_coordinator();
  return poll_event(context);
}

void FtcoAllreduce::decide_as_coordinator() {
  become_announcing();
  if (decided_ == 0) {
    RESPROUT_INVARIANT(round_ < 0xffff);
    decided_ = static_cast<std::uint16_t>(round_ + 1);
    raise(EventKind::deliver, message_to(self_, MessageKind::result, slot_));
    slot_ = Slot::result;
  }
  if (!config_->result_everywhere) slot_ = Slot::none;
}

void FtcoAllreduce::raise(EventKind kind, const Message& subject) {
  RESPROUT_INVARIANT(!has_pending_);
  pending_ = kind;
  subject_ = subject;
  has_pending_ = true;
}

Message FtcoAllreduce::message_to(std::int32_t virtual_rank, MessageKind kind, Slot slot) const {
  return {.from = rank_of(self_),
          .to = rank_of(virtual_rank),
          .round = static_cast<std::uint32_t>(round_),
          .kind = kind,
          .slot = slot};
}

std::optional<Message> FtcoAllreduce::poll_send(const Context& context) {
  if (phase_ == Phase::announcing) {
    while (cursor_ < end_) {
      const std::int32_t at = cursor_;
      if (is_suspected(context, at)) {
        ++cursor_;
        continue;
      }
      cursor_ += tree().size(at);
      return message_to(at, MessageKind::result, slot_);
    }
    return std::nullopt;
  }
  if (phase_ == Phase::closed || cursor_ < end_ || is_coordinator()) return std::nullopt;
  const std::int32_t ancestor = nearest_ancestor(context);
  if (ancestor == parent_) return std::nullopt;
  parent_ = ancestor;
  Message contribution = message_to(ancestor, MessageKind::contribution, slot_);
  contribution.tag = decision_;
  return contribution;
}

}  // namespace resprout::protocols
