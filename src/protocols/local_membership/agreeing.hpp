// How members with local views agree on the next view: the part of the machine that hears messages
// and suspicions, and leads. The functions stand in the order in which a change meets them.
//
// Included by instances.cpp alone. Thread rule: functions of the machine.
#pragma once

#include <algorithm>

#include "core/invariant.hpp"
#include "protocols/local_membership/local_membership.hpp"
#include "protocols/local_membership/neighborhood.hpp"

namespace resprout::protocols {

template <std::size_t R>
LocalMembership<R>::LocalMembership(const MembershipConfig& config, Rank self)
    : config_(&config), self_(self) {
  RESPROUT_INVARIANT(topology::RadixTree::is_radix(config.tree.radix));
}

template <std::size_t R>
LocalMembership<R> LocalMembership<R>::founder(const MembershipConfig& config, Rank self,
                                               const LocalView& first) {
  RESPROUT_INVARIANT(index(self) >= 0 && index(self) < first.limit && first.epoch == 1);
  LocalMembership machine(config, self);
  machine.view_ = first;
  machine.reach_ = first.members;
  return machine;
}

template <std::size_t R>
void LocalMembership<R>::start(Time now) {
  if (standing_ == Standing::joining) {
    ask_next_contact();
    retry_at_ = now + config_->retry;
  } else {
    says_install_ = 1;
  }
}

template <std::size_t R>
void LocalMembership<R>::handle_suspicion(Time, Rank rank, Evidence evidence) {
  if (!would_heed(rank, evidence)) return;
  if (standing_ == Standing::joining) {
    known_.note(rank, Change::tried);
    if (rank == contact_) ask_next_contact();
    return;
  }
  const bool is_concerned = concerns(rank, evidence);
  known_.drop(rank, Change::asked);
  known_.forget(0, idle);
  if (is_concerned) fence(rank, evidence);
}

template <std::size_t R>
void LocalMembership<R>::fence(Rank rank, Evidence evidence) {
  std::uint32_t what = evidence == Evidence::death ? fenced | Change::dead : fenced;
  if (!known_.is(rank, fenced)) what |= Change::detect_due;
  if (is_sure(rank)) what |= Change::sure;
  if (!note(rank, what)) {
    become_excluded();
    return;
  }
  act();
}

template <std::size_t R>
bool LocalMembership<R>::would_heed(Rank rank, Evidence evidence) const {
  if (standing_ == Standing::joining)
    return known_.is(rank, Change::contact) && !known_.is(rank, Change::tried);
  return known_.is(rank, Change::asked) || concerns(rank, evidence);
}

// Whether it makes a difference to the view.
template <std::size_t R>
bool LocalMembership<R>::concerns(Rank rank, Evidence evidence) const {
  if (!is_member() || rank == self_) return false;
  if (is_leaf(rank)) return true;
  if (is_gap(rank)) return false;
  if (known_.is(rank, fenced)) return evidence == Evidence::death && !known_.is(rank, Change::dead);
  return is_ancestor(rank) || is_neighbor(rank) || rank == view_.root || rank == coordinator();
}

// Adds to what is known. That somebody is fenced is news, even if something else of it was told.
template <std::size_t R>
bool LocalMembership<R>::note(Rank rank, std::uint32_t what) {
  if ((what & fenced) != 0 && !known_.is(rank, fenced))
    known_.drop(rank, Change::told | Change::told_dead);
  return known_.note(rank, what);
}

// Takes over whom others suspect: this process no longer listens to them either; and who wants to
// join. False: there is no room for them.
template <std::size_t R>
bool LocalMembership<R>::merge(const Message& message, std::uint32_t besides) {
  std::uint32_t heeded = fenced | Change::dead | Change::sure;
  if (message.kind == LocalKind::propose) heeded |= Change::removed | Change::added;
  for (const Change& change : message.changes) {
    if (change.id == self_) continue;
    if (message.kind == LocalKind::report && !change.is(fenced))
      note_joiner(change.id);
    else if (!note(change.id, (change.what & heeded) | besides))
      return false;
  }
  return true;
}

// What there is to do, given the view and the suspects. Whatever has changed, this is called.
template <std::size_t R>
void LocalMembership<R>::act() {
  if (!is_member()) return;
  count_sure();
  const bool has_quorum = is_quorum(reach_.count);
  if (!has_quorum && is_isolated_ == 0) says_isolate_ = 1;
  is_isolated_ = has_quorum ? 0 : 1;
  if (has_quorum) retry_at_ = never;
  const Rank named = coordinator();
  if (named == self_) {
    is_report_due_ = 0;
    lead();
    return;
  }
  for (const Change& change : known_) {
    if (!change.is(fenced) && !change.is(Change::asked)) continue;
    const bool is_told = named == informed_ && change.is(Change::told) &&
                         (change.is(Change::told_dead) || !change.is(Change::dead));
    if (!is_told) is_report_due_ = 1;
  }
}

// Those fenced who were members for sure, or surely none, need no survey.
template <std::size_t R>
void LocalMembership<R>::count_sure() {
  for (Change& change : known_) {
    if (!change.is(fenced) || change.is(Change::counted)) continue;
    if (is_gap(change.id)) {
      change.what |= Change::counted;
    } else if (change.is(Change::sure)) {
      change.what |= Change::counted;
      reach_ -= Tally::of(change.id);
    }
  }
}

// As quorum.hpp says, by counts. `agreeing` are all members who are not fenced.
template <std::size_t R>
bool LocalMembership<R>::is_quorum(std::int64_t agreeing) const {
  const std::int64_t all = view_.members.count;
  if (2 * agreeing > all) return true;
  if (2 * agreeing == all && !known_.is(view_.root, fenced)) return true;
  // Everybody else is proven dead: whoever is fenced is, or as many as are missing are.
  bool is_proven = true;
  std::int64_t dead = 0;
  for (const Change& change : known_) {
    if (!change.is(fenced) || is_gap(change.id)) continue;
    if (!change.is(Change::dead)) is_proven = false;
    if (change.is(Change::dead | Change::sure)) ++dead;
  }
  return agreeing > 0 && (is_proven || agreeing + dead == all);
}

template <std::size_t R>
void LocalMembership<R>::lead() {
  bool has_work = false;
  bool is_in_wave = true;
  for (const Change& change : known_) {
    if (is_candidate(change)) has_work = true;
    if (!change.is(fenced)) continue;
    has_work = true;
    if (!change.is(Change::in_wave) || change.is(Change::leaf)) is_in_wave = false;
  }
  if (leads() && is_in_wave)
    maybe_complete();  // the proof of a death may have been missing
  else if (has_work)
    propose();
}

// Begins a wave to all who are not fenced: with a proposal if it is known exactly who they are,
// with a survey if not. Who wants to join and was a member, perhaps, is counted as little as who is
// fenced; who cannot be counted without a survey waits for the next view if others need none.
template <std::size_t R>
void LocalMembership<R>::propose() {
  // The first time: what an earlier coordinator proposed may have been decided.
  if (attempt_ == 0 && has_accepted_ != 0) must_repeat_ = 1;
  count_joiners();
  bool is_exact = true;
  for (const Change& change : known_)
    if (change.is(fenced) && !change.is(Change::counted)) is_exact = false;
  // What an earlier coordinator proposed is repeated as it was: who has asked since is not in it.
  if (must_repeat_ == 0 && known_.count(Change::joins) > 0 &&
      known_.count(Change::joins | Change::counted) == 0)
    is_exact = false;
  const bool is_new = is_exact && must_repeat_ == 0;
  std::uint32_t outdated = Change::in_wave | Change::leaf | Change::leaf_due;
  if (is_new) outdated |= Change::removed | Change::added;
  known_.forget(outdated, idle);
  for (Change& change : known_) {
    const bool is_admitted =
        must_repeat_ != 0 ? change.is(Change::added)
                          : change.is(Change::joins) && (!is_exact || change.is(Change::counted));
    if (change.is(fenced))
      change.what |= is_new ? Change::in_wave | Change::removed : Change::in_wave;
    else if (is_admitted)
      change.what |= is_new ? Change::in_wave | Change::added : Change::in_wave;
  }
  if (is_new) {
    has_accepted_ = 1;
    next_ = next_view();
  }
  leads_ = 1;
  is_answer_due_ = 0;
  heard_ = {self_, ++attempt_};
  begin_wave(no_rank, heard_, !is_exact, false);
  maybe_complete();
}

template <std::size_t R>
void LocalMembership<R>::begin_wave(Rank parent, Ballot ballot, bool is_survey, bool is_leaf) {
  wave_ = Wave{};
  wave_.parent = parent;
  wave_.ballot = ballot;
  wave_.is_survey = is_survey ? 1 : 0;
  wave_.reach = reach_;
  wave_.answered = Tally::of(self_);
  wave_.is_leaf = is_leaf ? 1 : 0;
  if (is_leaf) return;
  wave_.unsent = next_wave_child(-1);
  for (std::int32_t child = wave_.unsent; child >= 0; child = next_wave_child(child))
    ++wave_.waiting;
  if (is_survey) return;
  for (Change& change : known_)
    if (change.is(Change::added | Change::in_wave) && !change.is(fenced))
      change.what |= Change::leaf;
  for (Change& change : known_) {
    if (!this->is_leaf(change.id)) continue;
    change.what |= Change::leaf_due;
    ++wave_.waiting;
  }
}

template <std::size_t R>
void LocalMembership<R>::handle_message(Time, const Message& message) {
  if (message.to != self_ || message.from == self_ || index(message.from) < 0) return;
  if (standing_ == Standing::joining) handle_as_joiner(message);
  if (is_member()) handle_as_member(message);
  // Also who is excluded by this very message: nobody shall wait for its answer.
  if (standing_ == Standing::excluded) handle_as_stranger(message);
}

template <std::size_t R>
void LocalMembership<R>::handle_as_member(const Message& message) {
  if (message.kind == LocalKind::join) {
    handle_join(message);
    return;
  }
  if (message.kind == LocalKind::stranger) {
    // A process that is no member, or will never act as one again, is as good as dead in the view
    // in which it was taken for one.
    if (message.view.epoch >= view_.epoch && concerns(message.from, Evidence::death))
      fence(message.from, Evidence::death);
    return;
  }
  if (!is_heard(message)) return;
  switch (message.kind) {
    case LocalKind::report:
      if (!merge(message, 0))
        become_excluded();
      else
        act();
      return;
    case LocalKind::survey:
    case LocalKind::propose:
      handle_proposal(message);
      return;
    case LocalKind::acceptance:
      handle_acceptance(message);
      return;
    case LocalKind::probe:
      // It hears too few of us to go on, but we hear it: one of us has to go, and we are more.
      if (note(message.from, fenced | Change::sure | Change::detect_due))
        act();
      else
        become_excluded();
      return;
    default:
      return;
  }
}

template <std::size_t R>
void LocalMembership<R>::handle_as_stranger(const Message& message) {
  const bool wants_answer = message.kind != LocalKind::install &&
                            message.kind != LocalKind::acceptance &&
                            message.kind != LocalKind::stranger;
  if (!wants_answer) return;
  // This process has gone on to a later view. That it is a member no more is no reason for the
  // sender to go on alone: it is told of that view, which it is not in.
  const bool is_behind = standing_ == Standing::excluded && message.view.epoch < view_.epoch &&
                         message.kind != LocalKind::join;
  if (!is_behind) taken_in_ = std::max(taken_in_, message.view.epoch);
  known_.note(message.from, is_behind ? Change::view_due | Change::told : Change::view_due);
}

// Whether the message is of a member whom this process listens to, in the view that it is in.
// Brings this process, or the sender, to the newer of their views.
template <std::size_t R>
bool LocalMembership<R>::is_heard(const Message& message) {
  if (message.view.epoch < view_.epoch) {
    if (message.kind != LocalKind::install) known_.note(message.from, Change::view_due);
    return false;
  }
  const bool is_newer = message.view.epoch > view_.epoch;
  // Whoever is admitted in the newer view is not the one who is suspected in this one.
  const bool is_admitted = is_newer && known_.is(message.from, Change::added);
  if (known_.is(message.from, Change::dead) && !is_admitted) return false;
  if (is_newer) {
    // Nobody is two views behind who is still a member: each was accepted by all its members.
    if (has_accepted_ == 0 || message.view != next_) {
      become_excluded();
      return false;
    }
  }
  if (known_.is(message.from, fenced) && !is_admitted) return false;
  if (is_newer) install(message.view);
  return is_member() && !known_.is(message.from, fenced);
}

template <std::size_t R>
void LocalMembership<R>::handle_proposal(const Message& message) {
  const bool is_survey = message.kind == LocalKind::survey;
  const std::uint32_t about_self = message.changes.of(self_);
  if (about_self != 0 && about_self != Change::added) return;
  if (message.ballot <= heard_) return;
  heard_ = message.ballot;
  const bool is_informed = informed_ == message.ballot.coordinator;
  std::uint32_t outdated = Change::in_wave | Change::leaf | Change::leaf_due;
  if (!is_survey) outdated |= Change::removed | Change::added | Change::counted;
  if (!is_informed) outdated |= Change::told | Change::told_dead;
  known_.forget(outdated, idle);
  std::uint32_t besides = Change::in_wave | Change::told;
  if (!is_survey) besides |= Change::counted;
  if (!merge(message, besides)) {
    become_excluded();
    return;
  }
  for (const Change& change : message.changes)
    if (change.is(Change::dead)) known_.note(change.id, Change::told_dead);
  if (!is_survey) {
    has_accepted_ = 1;
    next_ = message.next;
    reach_ = message.reach;
    // Whoever admits a member does not know that it is one.
    if (about_self != 0) reach_ += Tally::of(self_);
  }
  informed_ = message.ballot.coordinator;
  is_report_due_ = 0;
  begin_wave(message.from, message.ballot, is_survey, about_self != 0);
  is_answer_due_ = wave_.waiting == 0 ? 1 : 0;
  act();
}

template <std::size_t R>
void LocalMembership<R>::handle_acceptance(const Message& message) {
  if (message.ballot != wave_.ballot || wave_.waiting == 0) return;
  if (!is_wave_child(message.from) && !is_leaf(message.from)) return;
  wave_.answered += message.reach;
  if (--wave_.waiting > 0) return;
  if (leads())
    maybe_complete();
  else
    is_answer_due_ = 1;
}

// The coordinator has all the answers that it can get: are they enough?
template <std::size_t R>
void LocalMembership<R>::maybe_complete() {
  if (!leads() || wave_.waiting > 0) return;
  if (wave_.is_survey != 0) {
    reach_ = wave_.answered;
    for (Change& change : known_)
      if (change.is(Change::in_wave)) change.what |= Change::counted;
    propose();
    act();
    return;
  }
  // Who is admitted may turn out to have been a member all the time: it has accepted too.
  const std::int64_t surplus = wave_.answered.count - reach_.count;
  RESPROUT_INVARIANT(surplus == 0 ? wave_.answered == reach_
                                  : surplus > 0 && surplus <= known_.count(Change::added));
  if (is_quorum(wave_.answered.count)) decide();
}

template <std::size_t R>
void LocalMembership<R>::decide() {
  RESPROUT_INVARIANT(!known_.is(self_, Change::removed));
  // The dead too: it may be a predecessor that died, before who came back was taken in.
  for (Change& change : known_)
    if (change.is(Change::removed)) change.what |= Change::view_due;
  says_decide_ = 1;
  install(next_);
  // Who was admitted may be the root now: it tells its own children.
  if (is_member() && view_.root != self_ && !known_.note(view_.root, Change::view_due))
    become_excluded();
}

template <std::size_t R>
void LocalMembership<R>::install(const LocalView& view) {
  RESPROUT_INVARIANT(view.epoch == view_.epoch + 1 && view.root <= self_);
  const LocalView before = view_;
  view_ = view;
  note_changes();
  note_new_holes(before);
  if (!is_member()) return;
  forget_far_holes();
  known_.forget(of_view, idle);
  // Of a wave that this process was in when it heard the decision, another one's, it does not know
  // whether those below were all there; of one that has admitted it neither.
  is_unsure_ = wave_.waiting > 0 || wave_.is_survey != 0 || wave_.is_leaf != 0 ? 1 : 0;
  reach_ = view.members;
  wave_ = Wave{};
  heard_ = Ballot{};
  next_ = LocalView{};
  informed_ = no_rank;
  attempt_ = 0;
  has_accepted_ = leads_ = must_repeat_ = is_answer_due_ = is_report_due_ = 0;
  says_install_ = 1;
  view_unsent_ = next_child(-1);
  act();
}

template <std::size_t R>
void LocalMembership<R>::note_changes() {
  for (Change& change : known_) {
    if (change.is(Change::removed)) {
      if (!change.is(Change::hole)) change.what |= Change::leave_due;
      change.what |= Change::hole;
      change.what &= ~Change::enter_due;
      // It may have been its predecessor that died. If it lives it asks again.
      if (change.is(Change::asked)) change.what |= Change::view_due;
      change.what &= ~Change::asked;
    }
    if (change.is(Change::added)) {
      // Nothing that was said in the last view was said of it as a member.
      change.what &= ~(Change::hole | Change::asked | Change::leave_due);
      change.what |= Change::enter_due;
    }
    if (is_gap(change.id) || change.is(Change::added))
      change.what &= ~(fenced | Change::dead | Change::sure | Change::unclear);
  }
}

// A hole matters to those below it, and to the member that has its children.
template <std::size_t R>
void LocalMembership<R>::forget_far_holes() {
  for (Change& change : known_) {
    if (!change.is(Change::hole)) continue;
    const bool is_implied = change.id < view_.root;
    if (is_implied || (!is_ancestor(change.id) && !is_child(change.id)))
      change.what &= ~Change::hole;
  }
}

template <std::size_t R>
void LocalMembership<R>::become_excluded() {
  standing_ = Standing::excluded;
  // Whom it has to answer for asks somebody else.
  for (Change& change : known_) {
    const bool has_asked = change.is(Change::asked);
    change.what = 0;
    if (has_asked) change.what = Change::view_due;
  }
  known_.forget(0);
  wave_ = Wave{};
  view_unsent_ = -1;
  leads_ = is_answer_due_ = is_report_due_ = is_join_due_ = is_isolated_ = 0;
  says_install_ = says_isolate_ = says_decide_ = 0;
  retry_at_ = never;
  says_exclude_ = 1;
}

template <std::size_t R>
void LocalMembership<R>::handle_timeout(Time now) {
  if (now < poll_timeout().at) return;
  retry_at_ = now + config_->retry;
  if (standing_ == Standing::joining) {
    ask_next_contact();
    return;
  }
  for (Change& change : known_)
    if (change.is(fenced) && !change.is(Change::dead)) change.what |= Change::probe_due;
}

template <std::size_t R>
Deadline LocalMembership<R>::poll_timeout() const {
  if (standing_ == Standing::joining) return {retry_at_, "admission to the members"};
  if (!is_member() || is_isolated_ == 0) return {};
  // The first probe goes out at once.
  return {retry_at_ == never ? Time{0} : retry_at_, "those who are not heard"};
}

template <std::size_t R>
std::optional<LocalEvent> LocalMembership<R>::poll_event() {
  const auto take = [](std::uint32_t& flag) {
    const bool is_set = flag != 0;
    flag = 0;
    return is_set;
  };
  if (take(says_exclude_)) return LocalEvent{LocalEventKind::exclude, self_};
  if (const Rank id = known_.take(Change::detect_due); id != no_rank)
    return LocalEvent{LocalEventKind::detect, id};
  if (take(says_decide_)) return LocalEvent{LocalEventKind::decide, self_};
  if (const Rank id = known_.take(Change::leave_due); id != no_rank) {
    known_.forget(0, idle);
    return LocalEvent{LocalEventKind::leave, id};
  }
  if (const Rank id = known_.take(Change::enter_due); id != no_rank) {
    known_.forget(0, idle);
    return LocalEvent{LocalEventKind::enter, id};
  }
  if (take(says_install_)) return LocalEvent{LocalEventKind::install, self_};
  if (take(says_isolate_) && is_isolated_ != 0) return LocalEvent{LocalEventKind::isolate, self_};
  return std::nullopt;
}

}  // namespace resprout::protocols
