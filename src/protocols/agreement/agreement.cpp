// See agreement.hpp. The functions stand in the order in which an operation meets them.
#include "protocols/agreement/agreement.hpp"

#include <algorithm>

#include "core/invariant.hpp"

namespace resprout::protocols {

Agreement::Agreement(const Config& config, Rank self) : config_(&config), self_(index(self)) {
  RESPROUT_INVARIANT(config.procs > 0 && config.radix >= 2);
  RESPROUT_INVARIANT(self_ >= 0 && self_ < config.procs);
}

std::int32_t Agreement::lowest_unsuspected(const Context& context) const {
  std::int32_t lowest = 0;
  while (lowest != self_ && context.suspects.contains(rank_at(lowest))) ++lowest;
  return lowest;
}

// REQUIRES: this process is no coordinator.
std::int32_t Agreement::nearest_ancestor(const Context& context) const {
  std::int32_t ancestor = tree().parent(self_);
  while (ancestor != round_ && context.suspects.contains(rank_at(ancestor)))
    ancestor = tree().parent(ancestor);
  return ancestor;
}

void Agreement::start(const Context& context) { enter_round(lowest_unsuspected(context)); }

void Agreement::enter_round(std::int32_t round) {
  round_ = round;
  stage_ = Stage::voting;
  parent_ = -1;
  slot_ = proposal_ != 0 ? Slot::accumulator : Slot::input;
  // A coordinator also answers for the ranks below it: all suspected, so it will exclude them.
  cursor_ = is_coordinator() ? 0 : self_;
  end_ = self_ + tree().size(self_);
}

// This round's proposal, or decision, is in the accumulator.
void Agreement::become(Stage stage) {
  stage_ = stage;
  parent_ = -1;
  proposal_ = static_cast<std::uint16_t>(round_ + 1);
  slot_ = Slot::accumulator;
  cursor_ = tell_ = self_ + 1;
  end_ = tell_end_ = self_ + tree().size(self_);
}

Disposition Agreement::handle_message(const Context&, const Message& message) {
  const auto round = static_cast<std::int32_t>(message.round / 2);
  const bool is_of_vote = message.round % 2 == 0;
  if (round < round_ || round > self_) return Disposition::done;
  if (message.kind == MessageKind::contribution)
    return handle_contribution(round, is_of_vote ? Stage::voting : Stage::confirming,
                               index(message.from));
  if (message.kind != MessageKind::result || round == self_) return Disposition::done;
  const Stage stage = is_of_vote ? Stage::confirming : Stage::decided;
  if (round == round_ && stage_ >= stage) return Disposition::done;
  const bool is_new = round > round_ || stage_ == Stage::voting;
  round_ = round;
  become(stage);
  if (is_new) raise(EventKind::adopt, message);
  return Disposition::done;
}

Disposition Agreement::handle_contribution(std::int32_t round, Stage needed_in,
                                           std::int32_t from) const {
  const bool is_counted = stage_ > needed_in || (stage_ == needed_in && from < cursor_);
  return round == round_ && is_counted ? Disposition::done : Disposition::keep;
}

void Agreement::handle_suspicion(const Context& context, Rank rank) {
  const std::int32_t lowest = lowest_unsuspected(context);
  if (lowest > round_) {
    enter_round(lowest);
    if (proposal_ == 0)
      raise(EventKind::restart,
            message_to(self_, MessageKind::contribution, told(Stage::voting), Slot::input));
  } else if (stage_ != Stage::voting) {
    reach_behind(context, index(rank));
  }
}

// The suspect may not have forwarded what it was told: whoever is the nearest one above it does so
// instead. Telling somebody twice is harmless, so the new interval and what is left of the old one
// may be joined to one.
void Agreement::reach_behind(const Context& context, std::int32_t suspect) {
  if (suspect <= self_ || suspect >= end_) return;
  for (std::int32_t above = tree().parent(suspect); above != self_; above = tree().parent(above))
    if (!context.suspects.contains(rank_at(above))) return;
  const std::int32_t begin = suspect + 1;
  const std::int32_t end = suspect + tree().size(suspect);
  const bool is_idle = tell_ >= tell_end_;
  tell_ = is_idle ? begin : std::min(tell_, begin);
  tell_end_ = is_idle ? end : std::max(tell_end_, end);
}

std::optional<Event> Agreement::poll_event(const Context& context) {
  if (has_pending_) {
    has_pending_ = false;
    return Event{pending_, subject_};
  }
  if (stage_ == Stage::voting) {
    if (auto event = next_of_vote(context)) return event;
    if (is_collecting() || !is_coordinator()) return std::nullopt;
    RESPROUT_INVARIANT(round_ < 0xffff);
    become(Stage::confirming);
  }
  if (stage_ == Stage::confirming) {
    count_confirmations(context);
    if (is_collecting() || !is_coordinator()) return std::nullopt;
    become(Stage::decided);
  }
  if (has_delivered_) return std::nullopt;
  has_delivered_ = true;
  return Event{EventKind::deliver,
               message_to(self_, MessageKind::result, told(Stage::decided), Slot::accumulator)};
}

std::optional<Event> Agreement::next_of_vote(const Context& context) {
  while (cursor_ < end_) {
    const std::int32_t at = cursor_;
    if (at == self_) {
      ++cursor_;
      continue;
    }
    const Message* kept =
        context.mailbox.find(MessageKind::contribution, told(Stage::voting), rank_at(at));
    if (kept != nullptr) {
      cursor_ += tree().size(at);
      // A proposal takes the place of any partial result, and a later one that of an earlier one.
      const bool is_partial = kept->tag == 0;
      if (is_partial ? proposal_ != 0 : kept->tag <= proposal_) continue;
      proposal_ = kept->tag;
      slot_ = Slot::accumulator;
      return Event{is_partial ? EventKind::combine : EventKind::adopt, *kept};
    }
    if (!context.suspects.contains(rank_at(at))) return std::nullopt;
    ++cursor_;
    if (proposal_ != 0) continue;
    slot_ = Slot::accumulator;
    Message excluded =
        message_to(self_, MessageKind::contribution, told(Stage::voting), Slot::none);
    excluded.from = rank_at(at);
    return Event{EventKind::exclude, excluded};
  }
  return std::nullopt;
}

void Agreement::count_confirmations(const Context& context) {
  while (cursor_ < end_) {
    const Rank at = rank_at(cursor_);
    if (context.mailbox.find(MessageKind::contribution, told(Stage::confirming), at) != nullptr)
      cursor_ += tree().size(cursor_);
    else if (context.suspects.contains(at))
      ++cursor_;
    else
      return;
  }
}

void Agreement::raise(EventKind kind, const Message& subject) {
  RESPROUT_INVARIANT(!has_pending_);
  pending_ = kind;
  subject_ = subject;
  has_pending_ = true;
}

Message Agreement::message_to(std::int32_t rank, MessageKind kind, std::uint32_t round,
                              Slot slot) const {
  return {.from = rank_at(self_), .to = rank_at(rank), .round = round, .kind = kind, .slot = slot};
}

std::optional<Message> Agreement::poll_send(const Context& context) {
  if (stage_ != Stage::voting)
    if (auto message = next_to_tell(context)) return message;
  if (stage_ == Stage::decided || is_collecting() || is_coordinator()) return std::nullopt;
  const std::int32_t ancestor = nearest_ancestor(context);
  if (ancestor == parent_) return std::nullopt;
  parent_ = ancestor;
  Message message = message_to(ancestor, MessageKind::contribution, told(stage_),
                               stage_ == Stage::voting ? slot_ : Slot::none);
  if (stage_ == Stage::voting) message.tag = proposal_;
  return message;
}

std::optional<Message> Agreement::next_to_tell(const Context& context) {
  while (tell_ < tell_end_) {
    const std::int32_t at = tell_;
    if (context.suspects.contains(rank_at(at))) {
      ++tell_;
      continue;
    }
    tell_ += tree().size(at);
    // What is decided is told as of the confirmation, what is proposed as of the vote.
    const Stage of = stage_ == Stage::confirming ? Stage::voting : Stage::confirming;
    return message_to(at, MessageKind::result, told(of), Slot::accumulator);
  }
  return std::nullopt;
}

Rank Agreement::next_due(const Context& context, std::int32_t& place) const {
  if (stage_ == Stage::decided) return no_rank;
  if (cursor_ >= end_) {  // what comes down, from whom the contribution was sent to
    if (place > 0 || is_coordinator()) return no_rank;
    place = 1;
    return rank_at(nearest_ancestor(context));
  }
  for (place = std::max(place, cursor_); place < end_;) {
    const std::int32_t at = place;
    const Rank rank = rank_at(at);
    if (at == self_ || context.suspects.contains(rank)) {
      ++place;
      continue;
    }
    place += at < self_ ? 1 : tree().size(at);
    if (context.mailbox.find(MessageKind::contribution, told(stage_), rank) == nullptr) return rank;
  }
  return no_rank;
}

}  // namespace resprout::protocols
