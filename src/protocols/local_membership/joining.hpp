// How a process comes in: the part of the machine that asks for admission, and that admits.
//
// Included by instances.cpp alone. Thread rule: functions of the machine.
#pragma once

#include <algorithm>

#include "core/invariant.hpp"
#include "protocols/local_membership/local_membership.hpp"

namespace resprout::protocols {

template <std::size_t R>
LocalMembership<R> LocalMembership<R>::joiner(const MembershipConfig& config, Rank self,
                                              std::span<const Rank> contacts) {
  RESPROUT_INVARIANT(!contacts.empty() && contacts.size() <= R / 2);
  LocalMembership machine(config, self);
  machine.standing_ = Standing::joining;
  for (const Rank contact : contacts) machine.known_.note(contact, Change::contact);
  return machine;
}

// The next one who has not been asked in vain; if there is none, all may be asked again, but not
// before the time has come.
template <std::size_t R>
void LocalMembership<R>::ask_next_contact() {
  const Rank last = contact_;
  contact_ = no_rank;
  for (const Change& change : known_) {
    if (!change.is(Change::contact) || change.is(Change::tried)) continue;
    const bool is_better = contact_ == no_rank || (contact_ <= last && change.id > last);
    if (is_better) contact_ = change.id;
  }
  is_join_due_ = contact_ != no_rank ? 1 : 0;
  if (contact_ == no_rank) known_.forget(Change::tried);
}

template <std::size_t R>
void LocalMembership<R>::handle_as_joiner(const Message& message) {
  if (has_accepted_ != 0 && message.view == next_ && message.kind != LocalKind::join) {
    standing_ = Standing::member;
    known_.forget(Change::contact | Change::tried);
    contact_ = no_rank;
    is_join_due_ = 0;
    retry_at_ = never;
    install(next_);
    return;
  }
  if (message.kind == LocalKind::propose && message.changes.of(self_) == Change::added) {
    handle_admission(message);
  } else if (message.kind == LocalKind::stranger) {
    if (message.from != contact_) return;
    known_.note(contact_, Change::tried);
    ask_next_contact();
  } else {
    // Others have gone on without this process, or take it for who it was: either way nobody may
    // remember what it has asked.
    if (message.kind != LocalKind::join && contact_ != no_rank) is_join_due_ = 1;
    handle_as_stranger(message);
    if (next_.epoch <= taken_in_) has_accepted_ = 0;
  }
}

// Accepts a view that this process is in. All that it knows comes with the proposal; another one
// replaces it.
template <std::size_t R>
void LocalMembership<R>::handle_admission(const Message& message) {
  // In what it has said that it is no member of, it never is one.
  if (message.view.epoch < view_.epoch || message.next.epoch <= taken_in_) return;
  if (message.view.epoch == view_.epoch && message.ballot <= heard_) return;
  known_.forget(~(Change::contact | Change::tried | Change::view_due));
  constexpr std::uint32_t heeded =
      fenced | Change::dead | Change::sure | Change::removed | Change::added | Change::hole;
  for (const Change& change : message.changes) {
    if (change.id == self_) continue;
    std::uint32_t what = change.what & heeded;
    if (change.is(fenced) && !change.is(Change::sure)) what |= Change::unclear;
    if (known_.note(change.id, what)) continue;
    become_excluded();
    return;
  }
  view_ = message.view;
  next_ = message.next;
  reach_ = message.reach;
  heard_ = message.ballot;
  has_accepted_ = 1;
  wave_ = Wave{};
  wave_.parent = message.from;
  wave_.ballot = message.ballot;
  wave_.is_leaf = 1;
  is_answer_due_ = 1;
}

// This process tells the coordinator of this view, and those of the next ones, of a joiner that has
// asked it, until the joiner is in or was told to ask again.
template <std::size_t R>
void LocalMembership<R>::handle_join(const Message& message) {
  if (has_place(message.from) && known_.note(message.from, Change::asked)) act();
}

// Far from the others there would be more holes around it than it, or they, could remember.
template <std::size_t R>
bool LocalMembership<R>::has_place(Rank id) const {
  return index(id) <= view_.limit + reach_beyond && index(id) + reach_beyond >= index(view_.root);
}

// As the coordinator; who is one too many is reported again in the next view.
template <std::size_t R>
void LocalMembership<R>::note_joiner(Rank id) {
  if (known_.count(Change::joins) < admitted_max && has_place(id)) known_.note(id, Change::joins);
}

// Whether this process may admit it now. Only the root of the view admits: who takes over completes
// or removes.
template <std::size_t R>
bool LocalMembership<R>::is_candidate(const Change& change) const {
  const bool wants = change.is(Change::joins) || change.is(Change::asked);
  return self_ == view_.root && wants && !change.is(fenced) && has_place(change.id);
}

// Those of the candidates of whom it is known whether they are members of the view, under an
// identifier that they have had before, need no survey.
template <std::size_t R>
void LocalMembership<R>::count_joiners() {
  for (Change& change : known_)
    if (is_candidate(change) && known_.count(Change::joins) < admitted_max)
      change.what |= Change::joins;
  for (Change& change : known_) {
    if (!is_candidate(change) || !change.is(Change::joins) || change.is(Change::counted)) continue;
    if (!is_gap(change.id) && !is_sure(change.id)) continue;
    if (!is_gap(change.id)) reach_ -= Tally::of(change.id);
    change.what |= Change::counted;
  }
}

// The one to be proposed: of those who are reached and those who are added.
template <std::size_t R>
LocalView LocalMembership<R>::next_view() const {
  LocalView next{view_.epoch + 1, reach_, self_, view_.limit};
  for (const Change& change : known_) {
    if (!change.is(Change::added)) continue;
    next.members += Tally::of(change.id);
    next.root = std::min(next.root, change.id);
    next.limit = std::max(next.limit, index(change.id) + 1);
  }
  return next;
}

// What who is admitted has to know of its surroundings. There is room: all of it is known here.
template <std::size_t R>
void LocalMembership<R>::add_holes_around(Message& message) const {
  const auto is_above = [this](Rank above, Rank id) {
    std::int32_t at = index(id);
    while (at > index(above)) at = config_->tree.parent(at);
    return at == index(above);
  };
  for (const Change& change : known_) {
    if (!change.is(Change::hole) || change.id == message.to) continue;
    if (message.to == next_.root || is_above(change.id, message.to) ||
        is_above(message.to, change.id))
      message.changes.note(change.id, Change::hole);
  }
}

// If the first or the last identifier has changed: those between that are near and not admitted.
template <std::size_t R>
void LocalMembership<R>::note_new_holes(const LocalView& before) {
  const auto note = [this](std::int32_t begin, std::int32_t end) {
    for (std::int32_t i = begin; i < end && is_member(); ++i) {
      const Rank id = rank_at(i);
      if (id == self_ || known_.is(id, Change::added)) continue;
      if ((is_ancestor(id) || is_child(id)) && !known_.note(id, Change::hole)) become_excluded();
    }
  };
  note(index(view_.root), index(before.root));
  note(before.limit, view_.limit);
}

}  // namespace resprout::protocols
