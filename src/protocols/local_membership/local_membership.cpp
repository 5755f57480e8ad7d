// See local_membership.hpp. The functions stand in the order in which a change meets them.
#include "protocols/local_membership/local_membership.hpp"

#include "core/invariant.hpp"

namespace resprout::protocols {
namespace {

// What is known of others as long as the view is the same, and what is due.
constexpr std::uint32_t of_view =
    Change::told | Change::told_dead | Change::in_wave | Change::removed | Change::counted;
// What alone is no reason to remember somebody.
constexpr std::uint32_t idle =
    Change::dead | Change::sure | Change::counted | Change::told | Change::told_dead;

}  // namespace

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
void LocalMembership<R>::start(Time) {
  says_install_ = 1;
}

template <std::size_t R>
void LocalMembership<R>::handle_suspicion(Time, Rank rank, Evidence evidence) {
  if (!would_heed(rank, evidence)) return;
  std::uint32_t what = evidence == Evidence::death ? fenced | Change::dead : fenced;
  if (!known_.is(rank, fenced)) what |= Change::detect_due;
  if (is_sure(rank)) what |= Change::sure;
  if (!known_.note(rank, what)) {
    become_excluded();
    return;
  }
  act();
}

template <std::size_t R>
bool LocalMembership<R>::would_heed(Rank rank, Evidence evidence) const {
  if (!is_member() || rank == self_ || index(rank) >= view_.limit || is_gap(rank)) return false;
  if (known_.is(rank, fenced)) return evidence == Evidence::death && !known_.is(rank, Change::dead);
  return is_ancestor(rank) || is_neighbor(rank) || rank == view_.root || rank == coordinator();
}

// Takes over whom others suspect: this process no longer listens to them either. False: there is no
// room for them.
template <std::size_t R>
bool LocalMembership<R>::merge(const Changes<R>& changes, std::uint32_t besides) {
  for (const Change& change : changes) {
    if (change.id == self_) continue;
    if (!known_.note(change.id, change.what | fenced | besides)) return false;
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
    if (!change.is(fenced)) continue;
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
  bool has_fenced = false;
  bool is_in_wave = true;
  for (const Change& change : known_) {
    if (!change.is(fenced)) continue;
    has_fenced = true;
    if (!change.is(Change::in_wave)) is_in_wave = false;
  }
  if (leads() && is_in_wave)
    maybe_complete();  // the proof of a death may have been missing
  else if (has_fenced)
    propose();
}

// Begins a wave to all who are not fenced: with a proposal if it is known exactly who they are,
// with a survey if not.
template <std::size_t R>
void LocalMembership<R>::propose() {
  // The first time: what an earlier coordinator proposed may have been decided.
  if (attempt_ == 0 && has_accepted_ != 0) must_repeat_ = 1;
  bool is_exact = true;
  for (const Change& change : known_)
    if (change.is(fenced) && !change.is(Change::counted)) is_exact = false;
  const bool is_new = is_exact && must_repeat_ == 0;
  known_.forget(is_new ? Change::in_wave | Change::removed : Change::in_wave, idle);
  for (Change& change : known_)
    if (change.is(fenced))
      change.what |= is_new ? Change::in_wave | Change::removed : Change::in_wave;
  if (is_new) {
    has_accepted_ = 1;
    next_ = reach_;
    next_root_ = self_;
  }
  leads_ = 1;
  is_answer_due_ = 0;
  heard_ = {self_, ++attempt_};
  begin_wave(no_rank, heard_, !is_exact);
  maybe_complete();
}

template <std::size_t R>
void LocalMembership<R>::begin_wave(Rank parent, Ballot ballot, bool is_survey) {
  wave_ = Wave{};
  wave_.parent = parent;
  wave_.ballot = ballot;
  wave_.is_survey = is_survey ? 1 : 0;
  wave_.reach = reach_;
  wave_.answered = Tally::of(self_);
  wave_.unsent = next_wave_child(-1);
  for (std::int32_t child = wave_.unsent; child >= 0; child = next_wave_child(child))
    ++wave_.waiting;
}

template <std::size_t R>
void LocalMembership<R>::handle_message(Time now, const Message& message) {
  if (message.to != self_ || index(message.from) < 0 || index(message.from) >= view_.limit) return;
  if (!is_member()) {
    handle_as_stranger(message);
    return;
  }
  if (message.kind == LocalKind::stranger) {
    // A process that is no member, or will never act as one again, is as good as dead.
    handle_suspicion(now, message.from, Evidence::death);
    return;
  }
  if (!is_heard(message)) return;
  switch (message.kind) {
    case LocalKind::report:
      if (!merge(message.fenced, 0))
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
      if (known_.note(message.from, fenced | Change::sure | Change::detect_due))
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
  if (wants_answer) known_.note(message.from, Change::view_due);
}

// Whether the message is of a member whom this process listens to, in the view that it is in.
// Brings this process, or the sender, to the newer of their views.
template <std::size_t R>
bool LocalMembership<R>::is_heard(const Message& message) {
  if (message.view.epoch < view_.epoch) {
    if (message.kind != LocalKind::install) known_.note(message.from, Change::view_due);
    return false;
  }
  if (known_.is(message.from, Change::dead)) return false;
  const bool is_newer = message.view.epoch > view_.epoch;
  if (is_newer) {
    // Nobody is two views behind who is still a member: each was accepted by all its members.
    const bool is_accepted = has_accepted_ != 0 && message.view.epoch == view_.epoch + 1 &&
                             message.view.members == next_ && message.view.root == next_root_;
    if (!is_accepted) {
      become_excluded();
      return false;
    }
  }
  if (known_.is(message.from, fenced)) return false;
  if (is_newer) install(message.view);
  return is_member() && !known_.is(message.from, fenced);
}

template <std::size_t R>
void LocalMembership<R>::handle_proposal(const Message& message) {
  const bool is_survey = message.kind == LocalKind::survey;
  for (const Change& change : message.fenced)
    if (change.id == self_) return;
  if (message.ballot <= heard_) return;
  heard_ = message.ballot;
  const bool is_informed = informed_ == message.ballot.coordinator;
  std::uint32_t outdated = Change::in_wave;
  if (!is_survey) outdated |= Change::removed | Change::counted;
  if (!is_informed) outdated |= Change::told | Change::told_dead;
  known_.forget(outdated, idle);
  std::uint32_t besides = Change::in_wave | Change::told;
  if (!is_survey) besides |= Change::counted;
  if (!merge(message.fenced, besides)) {
    become_excluded();
    return;
  }
  for (const Change& change : message.fenced)
    if (change.is(Change::dead)) known_.note(change.id, Change::told_dead);
  if (!is_survey) {
    has_accepted_ = 1;
    next_ = message.next;
    next_root_ = message.next_root;
    reach_ = message.reach;
  }
  informed_ = message.ballot.coordinator;
  is_report_due_ = 0;
  begin_wave(message.from, message.ballot, is_survey);
  is_answer_due_ = wave_.waiting == 0 ? 1 : 0;
  act();
}

template <std::size_t R>
void LocalMembership<R>::handle_acceptance(const Message& message) {
  if (message.ballot != wave_.ballot || wave_.waiting == 0 || !is_wave_child(message.from)) return;
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
      if (change.is(fenced)) change.what |= Change::counted;
    propose();
    act();
    return;
  }
  RESPROUT_INVARIANT(wave_.answered == reach_);
  if (is_quorum(reach_.count)) decide();
}

template <std::size_t R>
void LocalMembership<R>::decide() {
  RESPROUT_INVARIANT(!known_.is(self_, Change::removed));
  for (Change& change : known_)
    if (change.is(Change::removed) && !change.is(Change::dead)) change.what |= Change::view_due;
  says_decide_ = 1;
  install({view_.epoch + 1, next_, next_root_, view_.limit});
}

template <std::size_t R>
void LocalMembership<R>::install(const LocalView& view) {
  RESPROUT_INVARIANT(view.epoch == view_.epoch + 1 && view.root <= self_);
  view_ = view;
  for (Change& change : known_) {
    if (change.is(Change::removed)) {
      if (!change.is(Change::hole)) change.what |= Change::leave_due;
      change.what |= Change::hole;
    }
    if (is_gap(change.id)) change.what &= ~(fenced | Change::dead | Change::sure);
  }
  forget_far_holes();
  known_.forget(of_view, idle);
  // Of a wave that this process was in when it heard the decision, another one's, it does not know
  // whether those below were all there.
  is_unsure_ = wave_.waiting > 0 || wave_.is_survey != 0 ? 1 : 0;
  reach_ = view.members;
  wave_ = Wave{};
  heard_ = Ballot{};
  next_ = Tally{};
  next_root_ = informed_ = no_rank;
  attempt_ = 0;
  has_accepted_ = leads_ = must_repeat_ = is_answer_due_ = is_report_due_ = 0;
  says_install_ = 1;
  view_unsent_ = next_child(-1);
  act();
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
  known_ = {};
  wave_ = Wave{};
  view_unsent_ = -1;
  leads_ = is_answer_due_ = is_report_due_ = is_isolated_ = 0;
  says_install_ = says_isolate_ = says_decide_ = 0;
  retry_at_ = never;
  says_exclude_ = 1;
}

template <std::size_t R>
void LocalMembership<R>::handle_timeout(Time now) {
  if (now < poll_timeout().at) return;
  for (Change& change : known_)
    if (change.is(fenced) && !change.is(Change::dead)) change.what |= Change::probe_due;
  retry_at_ = now + config_->retry;
}

template <std::size_t R>
Deadline LocalMembership<R>::poll_timeout() const {
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
  if (take(says_install_)) return LocalEvent{LocalEventKind::install, self_};
  if (take(says_isolate_) && is_isolated_ != 0) return LocalEvent{LocalEventKind::isolate, self_};
  return std::nullopt;
}

template <std::size_t R>
LocalMessage<R> LocalMembership<R>::message_to(Rank to, LocalKind kind) const {
  Message message;
  message.from = self_;
  message.to = to;
  message.kind = kind;
  message.view = view_;
  return message;
}

// Those of whom all of `which` is known, and what is said of them.
template <std::size_t R>
void LocalMembership<R>::add_fenced(Message& message, std::uint32_t which) const {
  std::uint32_t said = Change::dead | Change::sure;
  if (message.kind == LocalKind::propose) said |= Change::removed;
  for (const Change& change : known_)
    if (change.is(which)) message.fenced.note(change.id, change.what & said);
}

template <std::size_t R>
std::optional<LocalMessage<R>> LocalMembership<R>::poll_send() {
  if (auto message = poll_view()) return message;
  if (auto message = poll_wave()) return message;
  if (is_report_due_ != 0) {
    is_report_due_ = 0;
    informed_ = coordinator();
    Message message = message_to(informed_, LocalKind::report);
    add_fenced(message, fenced);
    for (Change& change : known_) {
      change.what &= ~(Change::told | Change::told_dead);
      if (!change.is(fenced)) continue;
      change.what |= change.is(Change::dead) ? Change::told | Change::told_dead : Change::told;
    }
    return message;
  }
  if (const Rank to = known_.take(Change::probe_due); to != no_rank)
    return message_to(to, LocalKind::probe);
  return std::nullopt;
}

// The view, to who is behind, was excluded, or is a child; of a stranger, that it is one.
template <std::size_t R>
std::optional<LocalMessage<R>> LocalMembership<R>::poll_view() {
  if (const Rank to = known_.take(Change::view_due); to != no_rank) {
    known_.forget(0, idle);
    return message_to(to, is_member() ? LocalKind::install : LocalKind::stranger);
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
    const bool is_survey = wave_.is_survey != 0;
    Message message =
        message_to(rank_at(child), is_survey ? LocalKind::survey : LocalKind::propose);
    message.ballot = wave_.ballot;
    add_fenced(message, Change::in_wave);
    if (is_survey) return message;
    message.next = next_;
    message.next_root = next_root_;
    message.reach = wave_.reach;
    return message;
  }
  if (is_answer_due_ == 0) return std::nullopt;
  is_answer_due_ = 0;
  Message message = message_to(wave_.parent, LocalKind::acceptance);
  message.ballot = wave_.ballot;
  message.reach = wave_.answered;
  return message;
}

template <std::size_t R>
Rank LocalMembership<R>::coordinator() const {
  std::int32_t id = index(view_.root);
  while (rank_at(id) != self_ && (known_.of(rank_at(id)) & (Change::hole | fenced)) != 0) ++id;
  return rank_at(id);
}

template <std::size_t R>
bool LocalMembership<R>::is_neighbor(Rank rank) const {
  if (!is_member() || rank == self_ || is_gap(rank)) return false;
  if (rank == parent() || is_child(rank)) return true;
  return wave_.ballot.exists() &&
         (rank == wave_.parent || rank == wave_.ballot.coordinator || is_wave_child(rank));
}

template <std::size_t R>
Rank LocalMembership<R>::parent() const {
  if (self_ == view_.root) return no_rank;
  const auto is_gap_at = [this](std::int32_t id) { return is_gap(rank_at(id)); };
  const std::int32_t above = topology::nearest_above(config_->tree, index(self_), is_gap_at);
  return above < 0 ? view_.root : rank_at(above);
}

template <std::size_t R>
bool LocalMembership<R>::is_ancestor(Rank id) const {
  std::int32_t above = index(self_);
  while (above > index(id)) above = config_->tree.parent(above);
  return above == index(id) && id != self_;
}

// Whether it is a member of the view, as far as this process can be sure by itself: the root, who
// is above it, who is right below it.
template <std::size_t R>
bool LocalMembership<R>::is_sure(Rank id) const {
  if (is_gap(id)) return false;
  return id == view_.root || is_ancestor(id) || (is_unsure_ == 0 && is_child(id));
}

template <std::size_t R>
bool LocalMembership<R>::is_child(Rank id) const {
  if (index(id) >= view_.limit || id == self_ || id == view_.root) return false;
  const auto is_gap_at = [this](std::int32_t at) { return is_gap(rank_at(at)); };
  const std::int32_t above = topology::nearest_above(config_->tree, index(id), is_gap_at);
  return above == index(self_) || (above < 0 && self_ == view_.root);
}

template <std::size_t R>
bool LocalMembership<R>::is_wave_gap(Rank id) const {
  return is_gap(id) || known_.is(id, Change::in_wave);
}

template <std::size_t R>
bool LocalMembership<R>::is_wave_child(Rank id) const {
  if (index(id) >= view_.limit || id == self_ || is_wave_gap(id)) return false;
  const auto is_gap_at = [this](std::int32_t at) { return is_wave_gap(rank_at(at)); };
  const std::int32_t above = topology::nearest_above(config_->tree, index(id), is_gap_at);
  return above == index(self_) || (above < 0 && leads());
}

// The children in the tree of the view, one after the other; the root has those of all gaps above.
template <std::size_t R>
std::int32_t LocalMembership<R>::next_child(std::int32_t after) const {
  const bool is_root = self_ == view_.root;
  const topology::RadixWalk walk{config_->tree, view_.limit, is_root ? -1 : index(self_)};
  const auto is_passed = [this](std::int32_t at) {
    return rank_at(at) == self_ || is_gap(rank_at(at));
  };
  return after < 0 ? walk.first(is_passed) : walk.next(after, is_passed);
}

template <std::size_t R>
std::int32_t LocalMembership<R>::next_wave_child(std::int32_t after) const {
  const topology::RadixWalk walk{config_->tree, view_.limit, leads() ? -1 : index(self_)};
  const auto is_passed = [this](std::int32_t at) {
    return rank_at(at) == self_ || is_wave_gap(rank_at(at));
  };
  return after < 0 ? walk.first(is_passed) : walk.next(after, is_passed);
}

template class LocalMembership<8>;
template class LocalMembership<32>;
template class LocalMembership<64>;

}  // namespace resprout::protocols
