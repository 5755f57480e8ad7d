// What a process with a local view has to say: the part of the machine that makes its messages.
//
// Included by instances.cpp alone. Thread rule: functions of the machine.
#pragma once

#include <optional>

#include "protocols/local_membership/local_membership.hpp"

namespace resprout::protocols {

template <std::size_t R>
LocalMessage<R> LocalMembership<R>::message_to(Rank to, LocalKind kind) const {
  Message message;
  message.from = self_;
  message.to = to;
  message.kind = kind;
  message.view = view_;
  return message;
}

// What is due of the wave to `child`.
template <std::size_t R>
LocalMessage<R> LocalMembership<R>::proposal_to(Rank child) const {
  const bool is_survey = wave_.is_survey != 0;
  Message message = message_to(child, is_survey ? LocalKind::survey : LocalKind::propose);
  message.ballot = wave_.ballot;
  std::uint32_t said = fenced | Change::dead | Change::sure;
  if (!is_survey) said |= Change::removed | Change::added;
  for (const Change& change : known_)
    if (change.is(Change::in_wave)) {
      std::uint32_t what = change.what & said;
      if (is_survey && !change.is(fenced)) what = Change::joins;
      if (change.is(Change::leaf)) what = Change::added;
      message.changes.note(change.id, what);
    }
  if (is_survey) return message;
  message.next = next_;
  message.reach = wave_.reach;
  return message;
}

// To the coordinator: whom this process suspects, and who has asked it for admission.
template <std::size_t R>
LocalMessage<R> LocalMembership<R>::report_to(Rank to) {
  Message message = message_to(to, LocalKind::report);
  for (Change& change : known_) {
    change.what &= ~(Change::told | Change::told_dead);
    if (!change.is(fenced) && !change.is(Change::asked)) continue;
    change.what |= change.is(Change::dead) ? Change::told | Change::told_dead : Change::told;
    std::uint32_t what = change.what & (fenced | Change::dead | Change::sure);
    if (!change.is(fenced)) what = Change::joins;
    message.changes.note(change.id, what);
  }
  return message;
}

template <std::size_t R>
std::optional<LocalMessage<R>> LocalMembership<R>::poll_send() {
  if (auto message = poll_view()) return message;
  if (is_join_due_ != 0) {
    is_join_due_ = 0;
    return message_to(contact_, LocalKind::join);
  }
  if (auto message = poll_wave()) return message;
  if (is_report_due_ != 0) {
    is_report_due_ = 0;
    informed_ = coordinator();
    return report_to(informed_);
  }
  if (const Rank to = known_.take(Change::probe_due); to != no_rank)
    return message_to(to, LocalKind::probe);
  return std::nullopt;
}

// The view, to who is behind, was excluded, or is a child; of a stranger, that it is one.
template <std::size_t R>
std::optional<LocalMessage<R>> LocalMembership<R>::poll_view() {
  if (const Rank to = known_.take(Change::view_due); to != no_rank) {
    const bool tells_view = is_member() || known_.is(to, Change::told);
    if (!is_member()) known_.drop(to, Change::told);
    known_.forget(0, idle);
    Message message = message_to(to, tells_view ? LocalKind::install : LocalKind::stranger);
    if (!tells_view) message.view.epoch = taken_in_;
    return message;
  }
  if (view_unsent_ < 0) return std::nullopt;
  const std::int32_t child = view_unsent_;
  view_unsent_ = next_child(child);
  return message_to(rank_at(child), LocalKind::install);
}

// What is due of the wave: down to a child, or up to the parent.
template <std::size_t R>
std::optional<LocalMessage<R>> LocalMembership<R>::poll_wave() {
  if (wave_.unsent >= 0) {
    const std::int32_t child = wave_.unsent;
    wave_.unsent = next_wave_child(child);
    return proposal_to(rank_at(child));
  }
  if (const Rank leaf = known_.take(Change::leaf_due); leaf != no_rank) {
    Message message = proposal_to(leaf);
    add_holes_around(message);
    return message;
  }
  if (is_answer_due_ == 0) return std::nullopt;
  is_answer_due_ = 0;
  Message message = message_to(wave_.parent, LocalKind::acceptance);
  message.ballot = wave_.ballot;
  message.reach = wave_.answered;
  return message;
}

}  // namespace resprout::protocols
