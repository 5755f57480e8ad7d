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
  RESPROUT_INVARIANT(config.roots >= 1 && config.roots <= config.procs);
  RESPROUT_INVARIANT(config.roots == 1 || (config.result_everywhere && !config.is_broadcast));
  RESPROUT_INVARIANT(!config.is_doubling || (config.roots & (config.roots - 1)) == 0);
}

topology::RangeForest FtcoAllreduce::forest(std::int32_t round) const {
  const std::int32_t from = coordinator(round);
  // Where the first root coordinates, everybody but the roots has the parent that it had: they are
  // few, unless they double.
  const bool is_headed = from == 0 && !config_->is_doubling;
  return {std::max(from, 0),
          config_->procs,
          config_->radix,
          config_->shape,
          round == 0 || is_headed ? config_->roots : 1,
          is_headed,
          round == 0 ? config_->relatives : nullptr};
}

topology::RangeForest FtcoAllreduce::tree() const { return forest(round_); }

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

// The lowest round of whose coordinators it suspects none.
std::int32_t FtcoAllreduce::lowest_round(const Context& context) const {
  if (config_->roots == 1) return lowest_unsuspected(context);
  const topology::RangeForest joint = forest(0);
  const Suspects& suspects = context.suspects;
  const bool has_lost_root =
      std::any_of(suspects.begin, suspects.begin + suspects.count,
                  [&](Rank rank) { return joint.is_root(virtual_rank_of(rank)); });
  return has_lost_root ? lowest_unsuspected(context) + 1 : 0;
}

// REQUIRES: this process is no root.
std::int32_t FtcoAllreduce::nearest_ancestor(const Context& context) const {
  std::int32_t ancestor = tree().parent(self_);
  while (is_suspected(context, ancestor)) {
    const std::int32_t above = tree().parent(ancestor);
    if (above < 0) break;
    ancestor = above;
  }
  return ancestor;
}

void FtcoAllreduce::start(const Context& context) {
  const std::int32_t lowest = lowest_round(context);
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
  slot_ = config_->is_broadcast && round != 0 ? Slot::none : Slot::input;
  if (decided_ != 0) slot_ = has_failed_ != 0 ? Slot::none : Slot::result;
  // A coordinator also answers for the ranks below it: all suspected, so it will exclude them.
  cursor_ = is_coordinator() ? 0 : self_;
  end_ = self_ + tree().size(self_);
  if (is_broadcasting()) cursor_ = end_;
}

void FtcoAllreduce::join(std::int32_t round) {
  if (phase_ == Phase::closed || round <= round_ || coordinator(round) > self_) return;
  enter_round(round);
  raise(EventKind::restart, message_to(self_, MessageKind::contribution, slot_));
}

Disposition FtcoAllreduce::handle_message(const Context&, const Message& message) {
  const std::int32_t round = round_of(message);
  const bool is_stale = round < round_ || (round == round_ && phase_ == Phase::announcing);
  if (is_stale || phase_ == Phase::closed || coordinator(round) > self_) return Disposition::done;

  if (message.kind == MessageKind::contribution) {
    // Together, roots hear from each other, too: from before and from behind their own range.
    const std::int32_t from = virtual_rank_of(message.from);
    const bool is_counted =
        round == round_ && from < cursor_ && (coordinator(round) >= 0 || from > self_);
    return is_counted ? Disposition::done : Disposition::keep;
  }
  if (message.kind == MessageKind::result && coordinator(round) != self_) accept_result(message);
  return Disposition::done;
}

void FtcoAllreduce::accept_result(const Message& message) {
  round_ = round_of(message);
  become_announcing();
  if (decided_ == 0) {
    decided_ = static_cast<std::uint16_t>(round_ + 1);
    slot_ = config_->result_everywhere ? Slot::result : Slot::none;
    if (config_->is_broadcast && message.slot == Slot::none) slot_ = Slot::none;
    raise_end(message);
  } else if (config_->is_broadcast && message.slot == Slot::none) {
    slot_ = Slot::none;
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
  const std::int32_t lowest = lowest_round(context);
  if (lowest > round_) {
    join(lowest);
    return;
  }
  if (phase_ == Phase::announcing) reach_behind(context, suspect);
}

// The suspect may not have forwarded the result: whoever is the nearest one above it does so
// instead. Telling somebody twice is harmless, so the new interval and what is left of the old
// one may be joined to one.
void FtcoAllreduce::reach_behind(const Context& context, std::int32_t suspect) {
  if (suspect <= self_ || suspect >= self_ + tree().size(self_)) return;
  const topology::RangeForest forest = tree();
  for (std::int32_t above = forest.parent(suspect); above != self_; above = forest.parent(above))
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
  if (phase_ == Phase::exchanging) return poll_partial(context);
  if (phase_ != Phase::collecting) return std::nullopt;
  while (cursor_ < end_) {
    const std::int32_t at = cursor_;
    if (at == self_) {
      ++cursor_;
      continue;
    }
    const std::uint32_t round = told(round_);
    const Message* kept = context.mailbox.find(MessageKind::contribution, round, rank_of(at));
    if (kept != nullptr) {
      cursor_ += tree().size(at);
      if (kept->tag < decision_ || (kept->tag == decision_ && decision_ != 0)) continue;
      const bool is_partial = kept->tag == 0;
      decision_ = kept->tag;
      // Of a broadcast: its sender has nothing, or has failed. Of a settlement it is combined or
      // adopted like any other: its exclusions count, and that nobody has a payload is a decision.
      if (kept->slot == Slot::none && config_->is_broadcast) {
        if (!is_partial) slot_ = Slot::none;
        continue;
      }
      slot_ = Slot::accumulator;
      return Event{is_partial ? EventKind::combine : EventKind::adopt, *kept};
    }
    if (!is_suspected(context, at)) return std::nullopt;
    ++cursor_;
    if (decision_ != 0 || config_->is_broadcast) continue;
    slot_ = Slot::accumulator;
    Message excluded = message_to(self_, MessageKind::contribution, Slot::none);
    excluded.from = rank_of(at);
    return Event{EventKind::exclude, excluded};
  }
  if (is_joint() && tree().is_root(self_)) {
    phase_ = Phase::exchanging;
    parent_ = 0;
    joined_ = 0;
    return poll_partial(context);
  }
  if (!is_coordinator()) return std::nullopt;
  decide();
  return poll_event(context);
}

// Of a root, in the round of all roots together.
topology::RootExchange FtcoAllreduce::exchange() const {
  const topology::RangeForest forest = tree();
  return {forest, forest.tree_of(self_), config_->is_doubling};
}

std::optional<Event> FtcoAllreduce::poll_partial(const Context& context) {
  const topology::RootExchange exchange = this->exchange();
  if (joined_ == exchange.count()) {
    decide();
    return poll_event(context);
  }
  if (!exchange.may_fold(parent_, joined_)) return std::nullopt;
  const Rank other = rank_of(exchange.partner(joined_));
  const Message* kept = context.mailbox.find(MessageKind::contribution, told(0), other);
  if (kept == nullptr) return std::nullopt;
  ++joined_;
  slot_ = Slot::accumulator;
  return Event{EventKind::combine, *kept};
}

Deadline FtcoAllreduce::poll_timeout(const Context& context) const {
  if (phase_ != Phase::exchanging) return {};
  FtcoAllreduce next = *this;
  if (!next.poll_partial(context)) return {};
  return {context.now, "a partial result to be folded"};
}

void FtcoAllreduce::decide() {
  become_announcing();
  if (decided_ == 0) {
    RESPROUT_INVARIANT(round_ < 0xffff);
    decided_ = static_cast<std::uint16_t>(round_ + 1);
    raise_end(message_to(self_, MessageKind::result, slot_));
    if (slot_ != Slot::none) slot_ = Slot::result;
  }
  if (!config_->result_everywhere) slot_ = Slot::none;
}

// `subject`: with the result, or, of a broadcast that nobody has, without.
void FtcoAllreduce::raise_end(const Message& subject) {
  has_failed_ = config_->is_broadcast && subject.slot == Slot::none ? 1 : 0;
  raise(has_failed_ != 0 ? EventKind::fail : EventKind::deliver, subject);
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
          .round = told(round_),
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
  if (phase_ == Phase::exchanging) {
    const topology::RootExchange exchange = this->exchange();
    if (!exchange.may_tell(parent_, joined_)) return std::nullopt;
    return message_to(exchange.partner(parent_++), MessageKind::contribution, slot_);
  }
  if (phase_ == Phase::closed || cursor_ < end_ || is_coordinator()) return std::nullopt;
  if (is_broadcasting()) return std::nullopt;
  const std::int32_t ancestor = nearest_ancestor(context);
  if (ancestor == parent_) return std::nullopt;
  parent_ = ancestor;
  Message contribution = message_to(ancestor, MessageKind::contribution, slot_);
  contribution.tag = decision_;
  return contribution;
}

bool FtcoAllreduce::is_done() const {
  return phase_ == Phase::closed || (phase_ == Phase::announcing && cursor_ >= end_);
}

Rank FtcoAllreduce::next_due(const Context& context, std::int32_t& place) const {
  if (phase_ == Phase::exchanging) {
    const topology::RootExchange exchange = this->exchange();
    for (place = std::max(place, joined_); place < exchange.due_until(joined_);) {
      const Rank other = rank_of(exchange.partner(place++));
      if (context.mailbox.find(MessageKind::contribution, told(0), other) == nullptr) return other;
    }
    return no_rank;
  }
  if (phase_ != Phase::collecting) return no_rank;
  if (cursor_ >= end_) {  // the result, from whom the contribution was sent to
    if (place > 0 || is_coordinator()) return no_rank;
    place = 1;
    return rank_of(nearest_ancestor(context));
  }
  const std::uint32_t round = told(round_);
  for (place = std::max(place, cursor_); place < end_;) {
    const std::int32_t at = place;
    if (at == self_ || is_suspected(context, at)) {
      ++place;
      continue;
    }
    place += at < self_ ? 1 : tree().size(at);
    if (context.mailbox.find(MessageKind::contribution, round, rank_of(at)) == nullptr)
      return rank_of(at);
  }
  return no_rank;
}

}  // namespace resprout::protocols
