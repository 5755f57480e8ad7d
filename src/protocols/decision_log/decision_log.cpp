// See decision_log.hpp.
#include "protocols/decision_log/decision_log.hpp"

#include <algorithm>

#include "core/invariant.hpp"

namespace resprout::protocols {

DecisionLog::DecisionLog(const DecisionLogConfig& config, Rank self)
    : window_(config.window), degree_(config.degree), self_(index(self)) {
  RESPROUT_INVARIANT(degree_ > 0 && degree_ <= replicas_max && window_ > 0);
  RESPROUT_INVARIANT(self_ >= 0 && self_ < degree_);
}

bool DecisionLog::counts(const Context& context, std::int32_t rank) const {
  return rank != self_ && !context.suspects.contains(rank_at(rank)) &&
         of(rank_at(rank)).has_finished == 0;
}

// --- the program
// ----------------------------------------------------------------------------------

bool DecisionLog::may_decide(const Context& context) const {
  if (!leads_from_here()) return false;
  std::uint64_t released = released_;
  for (std::int32_t rank = 0; rank < degree_; ++rank)
    if (counts(context, rank)) released = std::min(released, of(rank_at(rank)).released);
  return length_ - released < window_;
}

std::uint64_t DecisionLog::decide(const Context& context) {
  RESPROUT_INVARIANT(leads_from_here());
  followed_ = ++length_;
  advance(context);
  return length_;
}

std::uint64_t DecisionLog::announce(const Context& context) {
  RESPROUT_INVARIANT(may_announce());
  ++announced_;
  const std::uint64_t number = ++length_;
  advance(context);
  return number;
}

std::uint64_t DecisionLog::follow(const Context& context) {
  RESPROUT_INVARIANT(may_follow());
  const std::uint64_t number = ++followed_;
  advance(context);
  return number;
}

bool DecisionLog::is_settled(const Context& context) const {
  return is_known_to_all(context, followed_);
}

bool DecisionLog::is_known_to_all(const Context& context, std::uint64_t number) const {
  if (is_deposed()) return false;
  for (std::int32_t rank = 0; rank < degree_; ++rank)
    if (counts(context, rank) && of(rank_at(rank)).has < number) return false;
  return true;
}

void DecisionLog::finish(const Context& context) {
  RESPROUT_INVARIANT(!may_follow() && is_settled(context));
  is_finished_ = 1;
}

// --- what comes in
// --------------------------------------------------------------------------------

Disposition DecisionLog::handle_message(const Context& context, const DecisionMessage& message) {
  if (context.suspects.contains(message.from)) return Disposition::done;
  if (message.round > static_cast<std::uint32_t>(self_)) is_deposed_ = 1;
  // The length of a log that follows a lower leader says nothing of this one. Who leaves in a lower
  // round had everybody's acknowledgments of all that it knows, this process's too.
  const bool is_of_lower = message.round < round_ && message.kind != DecisionKind::farewell;
  if (is_deposed() || is_of_lower) return Disposition::done;
  Sibling& sibling = of(message.from);
  sibling.has = std::max(sibling.has, message.length);
  sibling.released = std::max(sibling.released, message.released);
  switch (message.kind) {
    case DecisionKind::decisions:
      take(message);
      break;
    case DecisionKind::inquiry:
      if (message.round == round_) break;
      promise(message.round);
      sibling.must_answer = 1;
      sibling.asked_from = message.length;
      break;
    case DecisionKind::answer:
      if (sibling.owes_answer == 0) break;
      take(message);
      sibling.owes_answer = 0;
      sibling.sent = message.length;
      break;
    case DecisionKind::acknowledgment:
      break;
    case DecisionKind::farewell:
      sibling.has_finished = 1;
      break;
  }
  advance(context);
  return Disposition::done;
}

void DecisionLog::promise(std::uint32_t round) {
  round_ = round;
  for (std::uint32_t lower = 0; lower < round; ++lower) siblings_[lower].must_depose = 1;
}

void DecisionLog::take(const DecisionMessage& message) {
  const std::uint64_t last = message.first + message.count - 1;
  if (message.count == 0 || last <= length_) return;
  RESPROUT_INVARIANT(message.first <= length_ + 1);
  learned_first_ = length_ + 1;
  learned_last_ = length_ = last;
}

bool DecisionLog::has_to_lead(const Context& context) const {
  for (std::int32_t rank = 0; rank < self_; ++rank)
    if (!context.suspects.contains(rank_at(rank))) return false;
  return true;
}

void DecisionLog::start(const Context& context) { advance(context); }

void DecisionLog::handle_suspicion(const Context& context, Rank) { advance(context); }

void DecisionLog::advance(const Context& context) {
  std::uint64_t needless = followed_;
  for (std::int32_t rank = 0; rank < degree_; ++rank)
    if (counts(context, rank)) needless = std::min(needless, of(rank_at(rank)).has);
  released_ = std::max(released_, needless);
  if (is_leading() || !has_to_lead(context)) return;
  if (is_candidate_ == 0) {
    is_candidate_ = 1;
    round_ = static_cast<std::uint32_t>(self_);
    // Rank 0 has nothing to ask for: nobody has decided before it.
    for (std::int32_t rank = self_ + 1; rank < degree_ && self_ > 0; ++rank)
      of(rank_at(rank)).must_ask = of(rank_at(rank)).owes_answer = 1;
  }
  for (std::int32_t rank = self_ + 1; rank < degree_; ++rank)
    if (counts(context, rank) && of(rank_at(rank)).owes_answer != 0) return;
  is_leading_ = 1;
}

// --- what goes out
// --------------------------------------------------------------------------------

std::optional<DecisionEvent> DecisionLog::poll_event(const Context&) {
  if (learned_first_ <= learned_last_) {
    const DecisionEvent event{DecisionEventKind::learn, learned_first_, learned_last_};
    learned_first_ = learned_last_ + 1;
    return event;
  }
  if (said_released_ < released_) {
    const DecisionEvent event{DecisionEventKind::release, said_released_ + 1, released_};
    said_released_ = released_;
    return event;
  }
  if (said_lead_ != is_leading_) {
    said_lead_ = is_leading_;
    return DecisionEvent{DecisionEventKind::lead};
  }
  if (said_depose_ == is_deposed_) return std::nullopt;
  said_depose_ = is_deposed_;
  return DecisionEvent{DecisionEventKind::depose};
}

std::optional<DecisionMessage> DecisionLog::poll_send(const Context& context) {
  for (std::int32_t rank = 0; rank < degree_; ++rank) {
    if (!counts(context, rank)) continue;
    if (const auto message = next_for(rank)) return message;
  }
  return std::nullopt;
}

std::optional<DecisionMessage> DecisionLog::next_for(std::int32_t rank) {
  Sibling& sibling = of(rank_at(rank));
  if (sibling.must_ask != 0) {
    sibling.must_ask = 0;
    return message_to(rank, DecisionKind::inquiry, 1, 0);
  }
  if (sibling.must_answer != 0) {
    sibling.must_answer = 0;
    return message_to(rank, DecisionKind::answer, sibling.asked_from + 1, length_);
  }
  // A follower's window binds also who leads it without having known it.
  const std::uint64_t last = std::min(length_, sibling.released + window_ + announced_);
  if (is_leading() && sibling.sent < last) {
    const std::uint64_t first = sibling.sent + 1;
    sibling.sent = last;
    return message_to(rank, DecisionKind::decisions, first, last);
  }
  // Room is of interest to the leader only, and not each single one.
  const std::uint64_t some = std::max<std::uint64_t>(1, window_ / 2);
  const bool has_room = leader() == rank_at(rank) && released_ - sibling.told_released >= some;
  if (sibling.told < length_ || has_room || sibling.must_depose != 0)
    return message_to(rank, DecisionKind::acknowledgment, 1, 0);
  if (is_finished() && sibling.is_told_farewell == 0) {
    sibling.is_told_farewell = 1;
    return message_to(rank, DecisionKind::farewell, 1, 0);
  }
  return std::nullopt;
}

// With the decisions first .. last, if there are any.
DecisionMessage DecisionLog::message_to(std::int32_t rank, DecisionKind kind, std::uint64_t first,
                                        std::uint64_t last) {
  Sibling& sibling = of(rank_at(rank));
  sibling.told = length_;
  sibling.told_released = released_;
  sibling.must_depose = 0;
  return {.from = rank_at(self_),
          .to = rank_at(rank),
          .kind = kind,
          .round = round_,
          .first = first,
          .count = last >= first ? last - first + 1 : 0,
          .length = length_,
          .released = released_};
}

Deadline DecisionLog::poll_timeout(const Context& context) const {
  if (is_deposed()) return {never, "its end: others follow somebody else"};
  if (!is_settled(context)) return {never, "an acknowledgment of its decisions"};
  if (is_candidate_ != 0 && !is_leading()) return {never, "an answer to what others know"};
  if (is_leading() && !may_decide(context) && !may_follow())
    return {never, "a replica that is a window behind"};
  return {never, is_leading() ? "nothing" : "the leader's next decision"};
}

}  // namespace resprout::protocols
