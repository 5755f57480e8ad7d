#include "protocols/ftco_in_band/ftco_in_band.hpp"

#include <algorithm>

#include "core/invariant.hpp"

namespace resprout::protocols {
namespace {

// The kinds of questions, as bits of Contact::unread; 0: it needs no answer.
std::uint8_t question_bit(MessageKind kind) {
  if (kind == MessageKind::contribution) return 1;
  return kind == MessageKind::keepalive ? 2 : 0;
}

}  // namespace

FtcoInBand::FtcoInBand(const FtcoInBandConfig& config, Rank self)
    : config_(&config), collective_(config.collective, self) {
  const topology::RangeForest forest = collective_.forest(0);
  const std::int32_t rank = collective_.self();
  contributions_due_ = {contributions_due(forest, rank, config.timing)};
  result_due_ = {result_due(forest, rank, config.timing, config.collective.is_broadcast)};
  const std::int64_t steps = interval_of(std::max(neighbors_of(forest, rank), 1));
  interval_ = static_cast<std::int32_t>(steps);
  children_ = forest.children(rank);
}

void FtcoInBand::start(const Context& context) {
  has_entered_ = 1;
  contributions_due_ = context.now + contributions_due_.ticks;
  result_due_ = context.now + result_due_.ticks;
  collective_.start(context);
}

// Those who are not in the new round yet cannot know that they are waited for: they are asked now.
// Who was asked before may be farther away in the new tree, and has its turn less often.
void FtcoInBand::enter_round(const Context& context) {
  round_ = collective_.round();
  const topology::RangeForest forest = collective_.forest(round_);
  contributions_due_ = context.now;
  result_due_ = context.now + result_due(forest, collective_.self(), config_->timing, false);
  for (Contact* it = context.contacts->begin;
       it != context.contacts->begin + context.contacts->count; ++it) {
    it->distance = static_cast<std::uint16_t>(distance_to(it->rank));
    it->patience = 0;
    if (it->is_asked) ask(context, *it);
  }
}

std::int32_t FtcoInBand::service_distance(Time now) const {
  const auto step = static_cast<std::uint64_t>(now.ticks / config_->timing.overhead);
  if (config_->service == Service::intervals) return interval_distance(interval_, step);
  const auto self = static_cast<std::uint64_t>(collective_.self());
  return randomized_distance(config_->seed + self * 0x9e3779b97f4a7c15u, step);
}

std::int32_t FtcoInBand::distance_to(Rank rank) const {
  const topology::RangeForest forest = collective_.forest(collective_.round());
  const auto [above, below] = std::minmax({collective_.virtual_rank_of(rank), collective_.self()});
  if (above < forest.begin) return 1;
  return std::max(forest.levels_between(above, below), 1);
}

// --- contacts
// -----------------------------------------------------------------------------------

Contact& FtcoInBand::contact_of(const Context& context, Rank rank) {
  if (Contact* known = context.contacts->find(rank)) return *known;
  RESPROUT_INVARIANT(context.contacts->count < context.contacts->capacity);
  Contact& fresh = context.contacts->begin[context.contacts->count++];
  fresh = {.rank = rank, .distance = static_cast<std::uint16_t>(distance_to(rank))};
  return fresh;
}

void FtcoInBand::owe(Contact& contact) {
  if (!contact.owes_answer) ++owed_;
  contact.owes_answer = true;
}

void FtcoInBand::settle(Contact& contact) {
  if (contact.owes_answer) --owed_;
  contact.owes_answer = false;
  if (contact.answer_by != never) --waiting_;
  contact.answer_by = never;
}

// Under another coordinator than the first the trees are others: who is asked has to do with its
// relatives in both.
Duration FtcoInBand::patience_with_rank(Rank rank, std::int32_t distance) const {
  const std::int32_t round = collective_.round();
  const std::int32_t asked = collective_.virtual_rank_of(rank);
  const topology::RangeForest forest = collective_.forest(round);
  const Duration now =
      patience_with(forest, std::max(asked, forest.begin), distance, config_->timing);
  if (collective_.coordinator(round) <= 0) return now;
  return now + patience_with(collective_.forest(0), asked, distance, config_->timing);
}

Duration FtcoInBand::patience(Contact& contact) const {
  if (contact.patience == 0)
    contact.patience = static_cast<std::int32_t>(
        std::min<Duration>(patience_with_rank(contact.rank, contact.distance), INT32_MAX));
  return contact.patience;
}

void FtcoInBand::ask(const Context& context, Contact& contact) {
  contact.is_asked = true;
  contact.asked = context.now;
  patience_ends_ = std::min(patience_ends_, context.now + patience(contact) + 1);
}

// --- what comes in
// ------------------------------------------------------------------------------

// How long its answer may wait at the least. Who asks from farther away in the tree of this round
// has as much more patience as there are more who may; of others it is not known how far away they
// are, and nobody has less patience than a neighbor. In later rounds several roots are neighbors no
// more.
Duration FtcoInBand::grace(const Message& message, const Contact& contact) const {
  const auto& [latency, overhead] = config_->timing;
  if (contact.distance > 1 && static_cast<std::int32_t>(message.round) == collective_.round()) {
    const Rank self = collective_.rank_of(collective_.self());
    return patience_with_rank(self, contact.distance) - 2 * (latency + overhead);
  }
  const std::int64_t steps = message.round == 0 ? interval_ : interval_of(children_ + 1);
  return (steps - 2) * overhead;
}

void FtcoInBand::handle_arrival(const Context& context, const Message& message) {
  const std::uint8_t question = question_bit(message.kind);
  if (question == 0 || context.suspects.contains(message.from)) return;
  Contact& contact = contact_of(context, message.from);
  contact.unread |= question;
  if (contact.answer_by == never) ++waiting_;
  // Who has asked before may have less patience now: in another round it has fewer neighbors.
  contact.answer_by = std::min(contact.answer_by, context.now + grace(message, contact));
  urgent_at_ = std::min(urgent_at_, contact.answer_by);
  if (has_entered() || message.kind != MessageKind::contribution) return;
  owe(contact);
  contact.answered |= question;
}

Disposition FtcoInBand::handle_message(const Context& context, const Message& message) {
  const std::uint8_t question = question_bit(message.kind);
  if (!context.suspects.contains(message.from)) {
    Contact& contact = contact_of(context, message.from);
    contact.is_asked = false;
    contact.is_overdue = false;
    const std::int32_t from = collective_.virtual_rank_of(message.from);
    const auto round = static_cast<std::int32_t>(message.round);
    // Who is below and asks when all has been said here will find the result in its queue.
    const bool is_answered = is_done() && round == collective_.round() &&
                             from > collective_.self() && contact.distance == 1;
    const bool is_new = question != 0 && (contact.answered & question) == 0;
    if (is_new && is_answered) settle(contact);
    if (is_new && !is_answered) owe(contact);
    contact.answered &= static_cast<std::uint8_t>(~question);
    contact.unread &= static_cast<std::uint8_t>(~question);
    told_round_ = std::max(told_round_, round);
    if (question != 0 && contact.distance > 1 && round == collective_.round()) teller_ = from;
  }
  if (message.kind != MessageKind::contribution && message.kind != MessageKind::result)
    return Disposition::done;
  return collective_.handle_message(context, message);
}

void FtcoInBand::handle_suspicion(const Context& context, Rank rank) {
  if (Contact* contact = context.contacts->find(rank)) {
    settle(*contact);
    contact->is_asked = false;
    contact->is_overdue = false;
  }
  if (has_entered()) collective_.handle_suspicion(context, rank);
}

void FtcoInBand::handle_timeout(const Context& context) { look_after(context, any_distance); }

// Who waits for nothing any more does not mind silence.
void FtcoInBand::look_after(const Context& context, std::int32_t distance) {
  if (context.now < patience_ends_ || !has_entered()) return;
  patience_ends_ = never;
  for (Contact* it = context.contacts->begin;
       it != context.contacts->begin + context.contacts->count; ++it) {
    if (!it->is_asked) continue;
    const Time end = it->asked + patience(*it) + 1;
    const bool is_its_turn = distance == any_distance || distance == it->distance;
    if (context.now >= end && !is_waiting()) {
      it->is_asked = false;
    } else if (context.now >= end && is_its_turn) {
      it->is_overdue = true;
      has_overdue_ = 1;
    } else {
      patience_ends_ = std::min(patience_ends_, end);
    }
  }
}

// --- what is to be told to the driver
// -----------------------------------------------------------

std::optional<Event> FtcoInBand::poll_event(const Context& context) {
  if (!has_entered()) return std::nullopt;
  for (;;) {
    const auto event = collective_.poll_event(context);
    if (collective_.round() != round_) enter_round(context);
    if (event) return event;
    if (auto suspicion = poll_suspicion(context)) return suspicion;
    if (told_round_ <= collective_.round()) return std::nullopt;
    const std::int32_t round = told_round_;
    told_round_ = 0;
    collective_.join(round);
    if (collective_.round() != round) return std::nullopt;
  }
}

std::optional<Event> FtcoInBand::poll_suspicion(const Context& context) {
  Rank suspect = overdue(context);
  if (suspect == no_rank) suspect = implied(context);
  if (suspect == no_rank) return std::nullopt;
  return Event{EventKind::suspect,
               {.from = suspect, .to = collective_.rank_of(collective_.self())}};
}

Rank FtcoInBand::overdue(const Context& context) {
  if (has_overdue_ == 0) return no_rank;
  for (std::uint32_t i = 0; i < context.contacts->count; ++i) {
    const Contact& contact = context.contacts->begin[i];
    if (contact.is_overdue && !context.suspects.contains(contact.rank)) return contact.rank;
  }
  has_overdue_ = 0;
  return no_rank;
}

// Whom others suspect: who is asked past the relatives between, or in a later round.
Rank FtcoInBand::implied(const Context& context) {
  const auto is_new = [&](std::int32_t rank) {
    return rank != collective_.self() && !context.suspects.contains(collective_.rank_of(rank));
  };
  if (teller_ >= 0) {
    const topology::RangeForest forest = collective_.forest(collective_.round());
    const auto [above, below] = std::minmax({teller_, collective_.self()});
    if (above >= forest.begin && forest.levels_between(above, below) > 1)
      for (std::int32_t at = forest.parent(below); at > above; at = forest.parent(at))
        if (is_new(at)) return collective_.rank_of(at);
    teller_ = -1;
  }
  if (told_round_ <= collective_.round()) return no_rank;
  const std::int32_t coordinator = collective_.coordinator(told_round_);
  if (coordinator > collective_.self()) return no_rank;  // they suspect this process, too
  for (std::int32_t rank = 0; rank < coordinator; ++rank)
    if (is_new(rank)) return collective_.rank_of(rank);
  return no_rank;
}

Deadline FtcoInBand::poll_timeout(const Context& context) const {
  if (!has_entered() || !is_waiting()) return {};
  if (const Deadline own = collective_.poll_timeout(context); own.at != never) return own;
  Time next = std::max(patience_ends_, context.now);
  if (patience_ends_ == never) next = never;
  if (context.now <= expected()) return {std::min(next, expected() + 1), "an expected message"};
  std::int32_t place = 0;
  for (Rank due; (due = collective_.next_due(context, place)) != no_rank;) {
    const Contact* contact = context.contacts->find(due);
    if (contact == nullptr || contact->asked == never) return {context.now, "a question"};
    if (contact->is_asked) continue;  // in patience_ends_
    const Duration patience = contact->patience != 0
                                  ? contact->patience
                                  : patience_with_rank(contact->rank, contact->distance);
    next = std::min(next, std::max(context.now, contact->asked + patience + 1));
  }
  return {next, "an answer"};
}

// --- what goes out
// ------------------------------------------------------------------------------

bool FtcoInBand::is_done() const { return has_entered() && collective_.is_done(); }

// Whether somebody else's message is needed to get on.
bool FtcoInBand::is_waiting() const {
  return !collective_.is_done() && !collective_.is_announcing();
}

Time FtcoInBand::expected() const {
  return collective_.is_collecting() ? contributions_due_ : result_due_;
}

Message FtcoInBand::message_to(Rank rank, MessageKind kind) const {
  return {.from = collective_.rank_of(collective_.self()),
          .to = rank,
          .round = static_cast<std::uint32_t>(collective_.round()),
          .kind = kind};
}

std::optional<Message> FtcoInBand::poll_send(const Context& context) {
  if (auto answer = poll_urgent(context)) return answer;
  if (auto data = poll_data(context)) return data;
  return poll_answer(context, any_distance);
}

std::optional<Message> FtcoInBand::poll_urgent(const Context& context) {
  // All who wait may have to be answered, one in a step.
  const Time soon = context.now + waiting_ * config_->timing.overhead;
  if (waiting_ == 0 || soon < urgent_at_) return std::nullopt;
  Contact* first = nullptr;
  for (std::uint32_t i = 0; i < context.contacts->count; ++i) {
    Contact& contact = context.contacts->begin[i];
    if (contact.answer_by == never) continue;
    if (first == nullptr || contact.answer_by < first->answer_by) first = &contact;
  }
  urgent_at_ = first->answer_by;
  if (soon < urgent_at_) return std::nullopt;
  first->answered = first->unread;
  settle(*first);
  return message_to(first->rank, MessageKind::acknowledgment);
}

std::optional<Message> FtcoInBand::poll_data(const Context& context) {
  if (!has_entered()) return std::nullopt;
  const auto message = collective_.poll_send(context);
  if (!message) return std::nullopt;
  if (message->kind == MessageKind::contribution) {
    Contact& contact = contact_of(context, message->to);
    settle(contact);
    ask(context, contact);
  } else if (Contact* contact = context.contacts->find(message->to)) {
    settle(*contact);
  }
  return message;
}

std::optional<Message> FtcoInBand::poll_answer(const Context& context, std::int32_t distance) {
  const auto fits = [distance](std::int32_t of) {
    return distance == any_distance || distance == of;
  };
  for (std::uint32_t i = 0; owed_ > 0 && i < context.contacts->count; ++i) {
    Contact& contact = context.contacts->begin[i];
    if (!contact.owes_answer || !fits(contact.distance)) continue;
    settle(contact);
    return message_to(contact.rank, MessageKind::acknowledgment);
  }
  if (!has_entered() || !is_waiting() || context.now <= expected()) return std::nullopt;
  std::int32_t place = 0;
  for (Rank due; (due = collective_.next_due(context, place)) != no_rank;) {
    Contact* contact = context.contacts->find(due);
    if (!fits(contact != nullptr ? contact->distance : distance_to(due))) continue;
    const bool is_due = contact == nullptr || contact->asked == never ||
                        (!contact->is_asked && context.now - contact->asked > patience(*contact));
    if (!is_due) continue;
    ask(context, contact != nullptr ? *contact : contact_of(context, due));
    return message_to(due, MessageKind::keepalive);
  }
  return std::nullopt;
}

}  // namespace resprout::protocols
