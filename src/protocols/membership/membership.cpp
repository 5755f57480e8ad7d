// See membership.hpp. The functions stand in the order in which a change meets them.
#include "protocols/membership/membership.hpp"

#include "core/invariant.hpp"

namespace resprout::protocols {

template <std::size_t W>
Membership<W>::Membership(const MembershipConfig& config, Rank self)
    : config_(&config), self_(self) {
  RESPROUT_INVARIANT(topology::RadixTree::is_radix(config.tree.radix) && Ids::is_id(self));
}

template <std::size_t W>
Membership<W> Membership<W>::founder(const MembershipConfig& config, Rank self,
                                     const Ids& members) {
  RESPROUT_INVARIANT(members.contains(self));
  Membership machine(config, self);
  machine.view_ = {1, members};
  return machine;
}

template <std::size_t W>
Membership<W> Membership<W>::joiner(const MembershipConfig& config, Rank self,
                                    const Ids& contacts) {
  RESPROUT_INVARIANT(!contacts.is_empty() && !contacts.contains(self));
  Membership machine(config, self);
  machine.standing_ = Standing::joining;
  machine.contacts_ = contacts;
  return machine;
}

template <std::size_t W>
void Membership<W>::start(Time now) {
  if (standing_ == Standing::joining) {
    ask_next_contact();
    retry_at_ = now + config_->retry;
  } else {
    says_install_ = 1;
  }
}

template <std::size_t W>
void Membership<W>::handle_suspicion(Time, Rank rank, Evidence evidence) {
  if (!would_heed(rank, evidence)) return;
  joiners_.remove(rank);
  if (standing_ == Standing::joining && contacts_.contains(rank)) {
    fenced_.add(rank);
    if (rank == contact_) ask_next_contact();
  }
  if (!is_member() || !view_.members.contains(rank)) return;
  if (evidence == Evidence::death) dead_.add(rank);
  if (!fenced_.contains(rank)) {
    fenced_.add(rank);
    detected_.add(rank);
  }
  act();
}

template <std::size_t W>
bool Membership<W>::would_heed(Rank rank, Evidence evidence) const {
  if (rank == self_ || standing_ == Standing::excluded) return false;
  if (joiners_.contains(rank)) return true;
  if (!is_member()) return contacts_.contains(rank) && !fenced_.contains(rank);
  if (!view_.members.contains(rank)) return false;
  return !fenced_.contains(rank) || (evidence == Evidence::death && !dead_.contains(rank));
}

// Takes over what others know. Whom they suspect, this process no longer listens to either.
template <std::size_t W>
void Membership<W>::merge(const Ids& fenced, const Ids& dead) {
  const Ids others = view_.members - Ids::only(self_);
  fenced_ |= fenced & others;
  dead_ |= dead & others;
}

// What there is to do, given the view and the suspects. Whatever has changed, this is called.
template <std::size_t W>
void Membership<W>::act() {
  if (!is_member()) return;
  const bool has_quorum = is_quorum(view_.members, dead_, view_.members - fenced_);
  if (!has_quorum && is_isolated_ == 0) says_isolate_ = 1;
  is_isolated_ = has_quorum ? 0 : 1;
  if (has_quorum) retry_at_ = never;
  if (named_ != coordinator()) redirects_due_ |= joiners_;
  named_ = coordinator();
  if (named_ == self_) {
    redirects_due_ = Ids{};
    is_report_due_ = 0;
    lead();
    return;
  }
  const bool is_told = coordinator() == informed_ && fenced_.is_within(told_fenced_) &&
                       (dead_ & view_.members).is_within(told_dead_);
  if (!fenced_.is_empty() && !is_told) is_report_due_ = 1;
}

template <std::size_t W>
void Membership<W>::lead() {
  const bool admits = self_ == view_.root() && !(joiners_ - view_.members).is_empty();
  if (leads() && wave_.fenced == fenced_)
    maybe_complete();  // the proof of a death may have been missing
  else if (!fenced_.is_empty() || admits)
    propose();
}

template <std::size_t W>
void Membership<W>::propose() {
  // The first time: what an earlier coordinator proposed may have been decided.
  const bool takes_over = attempt_ == 0 && accepted_ballot_.exists();
  if (takes_over) must_repeat_ = 1;
  if (must_repeat_ == 0) {
    accepted_ = view_.members - fenced_;
    // Only the root of the view admits, so that there is one who gives new identifiers.
    if (self_ == view_.root()) accepted_ |= joiners_ - view_.members;
  }
  accepted_ballot_ = {self_, ++attempt_};
  wave_ = Wave{};
  wave_.ballot = accepted_ballot_;
  wave_.fenced = fenced_;
  wave_.dead = dead_ & view_.members;
  wave_.members = accepted_;
  wave_.answered = Ids::only(self_);
  wave_.waiting = children_of(self_, view_.members - fenced_);
  wave_.unsent = wave_.waiting;
  leads_ = 1;
  is_answer_due_ = 0;
  maybe_complete();
}

template <std::size_t W>
void Membership<W>::handle_message(Time now, const Message& message) {
  if (message.to != self_ || standing_ == Standing::excluded || !Ids::is_id(message.from)) return;
  if (message.kind == MembershipKind::join) {
    // Who is about to be admitted may be taken for the root already.
    if (is_member())
      handle_join(message);
    else
      joiners_.add(message.from);
    return;
  }
  if (standing_ == Standing::joining) {
    handle_as_joiner(message);
    if (!is_member()) return;
  }
  if (!is_heard(message)) return;
  switch (message.kind) {
    case MembershipKind::report:
      handle_report(message);
      return;
    case MembershipKind::propose:
      handle_proposal(message);
      return;
    case MembershipKind::acceptance:
      handle_acceptance(message);
      return;
    case MembershipKind::probe:
      // It hears too few of us to go on, but we hear it: one of us has to go, and we are more.
      handle_suspicion(now, message.from, Evidence::silence);
      return;
    default:
      return;
  }
}

template <std::size_t W>
void Membership<W>::handle_as_joiner(const Message& message) {
  if (message.kind == MembershipKind::redirect) {
    // Who names one that does not answer will know better later, and then says so.
    const Rank named = message.about;
    if (message.from != contact_ || !Ids::is_id(named) || named == self_) return;
    if (named == contact_ || fenced_.contains(named)) return;
    contacts_.add(named);
    contact_ = named;
    is_join_due_ = 1;
  } else if (message.view.members.contains(self_)) {
    standing_ = Standing::member;
    contact_ = no_rank;
    contacts_ = fenced_ = Ids{};
    is_join_due_ = 0;
    retry_at_ = never;
    install(message.view);
  }
}

// Whether the message is of a member whom this process listens to, in the view that it is in.
// Brings this process, or the sender, to the newer of their views.
template <std::size_t W>
bool Membership<W>::is_heard(const Message& message) {
  if (message.view.epoch < view_.epoch) {
    const bool is_answer =
        message.kind == MembershipKind::install || message.kind == MembershipKind::report_ack;
    if (!is_answer) views_due_.add(message.from);
    return false;
  }
  const bool is_newer = message.view.epoch > view_.epoch;
  const bool is_out = is_newer && !message.view.members.contains(self_);
  if (dead_.contains(message.from)) return false;
  if (is_out) {
    become_excluded(message.view);
    return false;
  }
  if (fenced_.contains(message.from)) return false;
  if (is_newer) install(message.view);
  return is_member() && view_.members.contains(message.from) && !fenced_.contains(message.from);
}

template <std::size_t W>
void Membership<W>::handle_report(const Message& message) {
  merge(message.fenced, message.dead);
  acks_due_.add(message.from);
  act();
}

template <std::size_t W>
void Membership<W>::handle_proposal(const Message& message) {
  if (message.fenced.contains(self_) || message.ballot <= accepted_ballot_) return;
  if (!view_.members.contains(message.ballot.coordinator)) return;
  accepted_ballot_ = message.ballot;
  accepted_ = message.members;
  // Whoever is admitted again is not the one who died.
  dead_ -= message.members - view_.members;
  merge(message.fenced, message.dead);
  wave_ = Wave{};
  wave_.parent = message.from;
  wave_.ballot = message.ballot;
  wave_.fenced = message.fenced;
  wave_.dead = message.dead;
  wave_.members = message.members;
  wave_.waiting = children_of(self_, view_.members - message.fenced);
  wave_.unsent = wave_.waiting;
  wave_.answered = Ids::only(self_);
  is_answer_due_ = wave_.waiting.is_empty() ? 1 : 0;
  // The coordinator knows of these.
  if (informed_ != message.ballot.coordinator) {
    informed_ = message.ballot.coordinator;
    told_fenced_ = Ids{};
    told_dead_ = Ids{};
  }
  told_fenced_ |= message.fenced;
  told_dead_ |= message.dead;
  is_report_due_ = 0;
  act();
}

template <std::size_t W>
void Membership<W>::handle_acceptance(const Message& message) {
  if (message.ballot != wave_.ballot || !wave_.waiting.contains(message.from)) return;
  wave_.waiting.remove(message.from);
  wave_.answered |= message.answered;
  if (!wave_.waiting.is_empty()) return;
  if (leads())
    maybe_complete();
  else
    is_answer_due_ = 1;
}

template <std::size_t W>
void Membership<W>::handle_join(const Message& message) {
  // Its welcome was lost with who should have sent it.
  if (view_.members.contains(message.from) && !fenced_.contains(message.from)) {
    views_due_.add(message.from);
    return;
  }
  joiners_.add(message.from);
  if (coordinator() != self_) redirects_due_.add(message.from);
  act();
}

// The coordinator has all the acceptances that it can get: are they enough?
template <std::size_t W>
void Membership<W>::maybe_complete() {
  if (leads() && wave_.waiting.is_empty() && is_quorum(view_.members, dead_, wave_.answered))
    decide();
}

template <std::size_t W>
void Membership<W>::decide() {
  const View<W> next{view_.epoch + 1, wave_.members};
  const Ids excluded = view_.members - next.members - dead_ - Ids::only(self_);
  says_decide_ = 1;
  if (!next.members.contains(self_)) {
    // What was taken over excludes this process. It still tells everybody.
    become_excluded(next);
    views_due_ = next.members | excluded;
    return;
  }
  // `install` may go on to the view after this one; who is told then is told of that.
  install(next);
  views_due_ |= excluded - view_.members;
  // A process that was admitted may be the root now: it tells its own children.
  if (view_.root() != self_) views_due_.add(view_.root());
}

template <std::size_t W>
void Membership<W>::install(const View<W>& view) {
  RESPROUT_INVARIANT(view.members.contains(self_) && view.epoch > view_.epoch);
  dead_ -= view.members - view_.members;
  view_ = view;
  fenced_ &= view.members;
  joiners_ -= view.members;
  told_fenced_ = Ids{};
  told_dead_ = Ids{};
  informed_ = no_rank;
  wave_ = Wave{};
  accepted_ballot_ = Ballot{};
  accepted_ = Ids{};
  attempt_ = 0;
  leads_ = must_repeat_ = is_answer_due_ = is_report_due_ = 0;
  says_install_ = 1;
  // Nobody waits for who is neither a member nor new: they are told once, by who decided.
  views_due_ |= children_of(self_, view.members);
  act();
}

template <std::size_t W>
void Membership<W>::become_excluded(const View<W>& view) {
  standing_ = Standing::excluded;
  view_ = view;
  leads_ = 0;
  wave_ = Wave{};
  views_due_ = acks_due_ = redirects_due_ = probes_due_ = Ids{};
  is_answer_due_ = is_report_due_ = is_join_due_ = 0;
  retry_at_ = never;
  says_exclude_ = 1;
}

template <std::size_t W>
void Membership<W>::ask_next_contact() {
  const Ids left = contacts_ - fenced_;
  contact_ = left.next(contact_);
  if (contact_ == no_rank) contact_ = left.lowest();
  is_join_due_ = contact_ != no_rank ? 1 : 0;
}

template <std::size_t W>
void Membership<W>::handle_timeout(Time now) {
  if (now < poll_timeout().at) return;
  if (standing_ == Standing::joining) {
    if ((contacts_ - fenced_).is_empty()) fenced_ = Ids{};
    ask_next_contact();
  } else {
    probes_due_ = fenced_ - dead_;
  }
  retry_at_ = now + config_->retry;
}

template <std::size_t W>
Deadline Membership<W>::poll_timeout() const {
  if (standing_ == Standing::joining) return {retry_at_, "admission to the members"};
  if (!is_member() || is_isolated_ == 0) return {};
  // The first probe goes out at once.
  return {retry_at_ == never ? Time{0} : retry_at_, "those who are not heard"};
}

template <std::size_t W>
std::optional<MembershipEvent> Membership<W>::poll_event() {
  const auto take = [](std::uint32_t& flag) {
    const bool is_set = flag != 0;
    flag = 0;
    return is_set;
  };
  const Rank detected = detected_.lowest();
  if (detected != no_rank) {
    detected_.remove(detected);
    return MembershipEvent{MembershipEventKind::detect, detected};
  }
  if (take(says_decide_)) return MembershipEvent{MembershipEventKind::decide, self_};
  if (take(says_exclude_)) return MembershipEvent{MembershipEventKind::exclude, self_};
  if (take(says_install_) && is_member())
    return MembershipEvent{MembershipEventKind::install, self_};
  if (take(says_isolate_) && is_isolated_ != 0)
    return MembershipEvent{MembershipEventKind::isolate, self_};
  return std::nullopt;
}

template <std::size_t W>
MembershipMessage<W> Membership<W>::message_to(Rank to, MembershipKind kind) const {
  Message message;
  message.from = self_;
  message.to = to;
  message.kind = kind;
  message.view = view_;
  return message;
}

template <std::size_t W>
std::optional<MembershipMessage<W>> Membership<W>::poll_send() {
  const auto take = [](Ids& due) {
    const Rank id = due.lowest();
    if (id != no_rank) due.remove(id);
    return id;
  };
  if (const Rank to = take(views_due_); to != no_rank)
    return message_to(to, MembershipKind::install);
  if (const Rank to = take(acks_due_); to != no_rank)
    return message_to(to, MembershipKind::report_ack);
  if (const Rank to = take(redirects_due_); to != no_rank) {
    Message message = message_to(to, MembershipKind::redirect);
    message.about = coordinator();
    return message;
  }
  if (is_join_due_ != 0) {
    is_join_due_ = 0;
    return message_to(contact_, MembershipKind::join);
  }
  if (auto message = poll_wave()) return message;
  if (is_report_due_ != 0) {
    is_report_due_ = 0;
    informed_ = coordinator();
    told_fenced_ = fenced_;
    told_dead_ = dead_ & view_.members;
    Message message = message_to(informed_, MembershipKind::report);
    message.fenced = told_fenced_;
    message.dead = told_dead_;
    return message;
  }
  if (const Rank to = take(probes_due_); to != no_rank)
    return message_to(to, MembershipKind::probe);
  return std::nullopt;
}

// What is due of the wave: down to a child, or up to the parent.
template <std::size_t W>
std::optional<MembershipMessage<W>> Membership<W>::poll_wave() {
  const Rank child = wave_.unsent.lowest();
  if (child != no_rank) {
    wave_.unsent.remove(child);
    Message message = message_to(child, MembershipKind::propose);
    message.ballot = wave_.ballot;
    message.fenced = wave_.fenced;
    message.dead = wave_.dead;
    message.members = wave_.members;
    return message;
  }
  if (is_answer_due_ == 0) return std::nullopt;
  is_answer_due_ = 0;
  Message message = message_to(wave_.parent, MembershipKind::acceptance);
  message.ballot = wave_.ballot;
  message.answered = wave_.answered;
  return message;
}

template <std::size_t W>
IdSet<W> Membership<W>::children_of(Rank id, const Ids& members) const {
  const std::int32_t root = index(members.lowest());
  const auto is_member = [&members](std::int32_t at) { return members.contains(rank_at(at)); };
  Ids children;
  members.for_each([&](Rank member) {
    if (config_->tree.parent_among(index(member), root, is_member) == index(id))
      children.add(member);
  });
  return children;
}

template <std::size_t W>
IdSet<W> Membership<W>::neighbors_among(const Ids& members) const {
  Ids found = children_of(self_, members);
  const std::int32_t parent = config_->tree.parent_among(
      index(self_), index(members.lowest()),
      [&members](std::int32_t id) { return members.contains(rank_at(id)); });
  if (parent >= 0) found.add(rank_at(parent));
  return found;
}

template <std::size_t W>
IdSet<W> Membership<W>::neighbors() const {
  if (!is_member()) return {};
  const Ids found = neighbors_among(view_.members);
  return fenced_.is_empty() ? found : found | neighbors_among(view_.members - fenced_);
}

template class Membership<1>;
template class Membership<64>;

}  // namespace resprout::protocols
