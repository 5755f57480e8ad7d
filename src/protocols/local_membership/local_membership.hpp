// Membership with local views: all members agree on one view of who is alive, but each one knows
// only its neighborhood of it. So a member's memory does not depend on how many members there are.
//
// Scalable Membership, section 5, names it as future work ("a variant of our protocol with
// localized views of the overall tree to limit the memory requirements to a constant size"). The
// rules of agreement are those of protocols/membership: fences, ballots, completion, quorums. What
// a process knows is less. Of the view it knows the epoch, the root, the number of members and a
// digest of them. Of single identifiers it knows the *holes*, which are no members, among its
// ancestors and between itself and its children, and the processes that it suspects now. Proposals
// name the processes that are removed. Acceptances count the processes that accept.
// docs/explanation/protocols/local_membership.md says why that is enough.
//
// Invariants
//  1. A known hole is no member of the view. All holes are known among the ancestors, and between
//     this process and its children in the tree of the view, except for fenced processes.
//  2. A wave goes to every identifier that is neither a hole nor fenced by the wave. Each process
//     that answers is counted once.
//  3. A proposal says exactly who is left without the fenced. So it is made only if each fenced
//     process is known to be a member, or if those who are left have been counted (a survey). The
//     members that have accepted it then are those that it says.
//  4. As in protocols/membership, 1 to 6.
//  5. A proposal admits only joiners that its wave asks, and says how many members there are
//     without them, no matter whether they were members before. Only the root of the view makes
//     such a proposal.
//
// The member that a joiner asks forwards the request until the joiner is in. Nobody is redirected.
// A process that has no room for one more change ends as a member.
//
// Drivers: as for protocols/membership. Beside that, a process is told of suspicions of its
// neighbors and of the processes that it sends to. A message to an identifier that no process has
// any more leads to such a suspicion, as a message to a dead process does. Thread rule: a value.
#pragma once

#include <optional>
#include <span>
#include <type_traits>

#include "core/time.hpp"
#include "protocols/local_membership/message.hpp"
#include "protocols/membership/membership.hpp"
#include "topology/radix_walk.hpp"

namespace resprout::protocols {

// Room: how many holes and suspects it can know at once. Nothing else of it can grow.
template <std::size_t Room>
class LocalMembership {
 public:
  using Message = LocalMessage<Room>;
  enum class Standing : std::uint32_t { member, joining, excluded };

  // A member of a first view, which all its members know without a message (section 3.2).
  // REQUIRES: `config` outlives the machine; `first` is LocalView::first(procs); self is in it.
  static LocalMembership founder(const MembershipConfig& config, Rank self, const LocalView& first);

  // A joiner, which asks `contacts` for admission, one after the other, until it is in (section
  // 3.7). A contact that is no member says so. REQUIRES: contacts are not empty, without self, and
  // not more than Room / 2.
  static LocalMembership joiner(const MembershipConfig& config, Rank self,
                                std::span<const Rank> contacts);

  void start(Time now);
  void handle_message(Time now, const Message& message);
  void handle_timeout(Time now);
  // This process suspects `rank`. It counts if `rank` is a neighbor, or if this process waits for
  // it. REQUIRES: once a process was admitted under the identifier `rank`, the end of an earlier
  // one is not reported any more. (It need not be: who joins takes the place of the earlier one.)
  void handle_suspicion(Time now, Rank rank, Evidence evidence);
  // Whether handle_suspicion would change anything.
  bool would_heed(Rank rank, Evidence evidence) const;

  std::optional<LocalEvent> poll_event();
  std::optional<Message> poll_send();
  Deadline poll_timeout() const;

  Rank self() const { return self_; }
  Standing standing() const { return standing_; }
  bool is_member() const { return standing_ == Standing::member; }
  // The view that was installed last. An excluded process keeps the last view that it was in.
  const LocalView& view() const { return view_; }
  // Of a joiner: whether it waits for the answer of a contact.
  bool has_asked() const { return contact_ != no_rank; }
  // Of a joiner: whether `rank` is a contact that it may still ask.
  bool may_ask(Rank rank) const { return known_.is(rank, Change::contact); }
  bool is_isolated() const { return is_isolated_ != 0; }
  // The process that, as far as this one knows, leads the change to the next view.
  Rank coordinator() const;
  // Whether a message that `from` has sent to this application in view `epoch` may be received now:
  // this process is in that view and `from` is a member of it whom this process has not fenced.
  bool may_receive(Rank from, std::uint64_t epoch) const {
    return is_member() && epoch == view_.epoch && (known_.of(from) & (Change::hole | fenced)) == 0;
  }
  // Whether this process has to watch `rank`. These are its parent and its children in the trees of
  // the view and of the wave under way, the coordinator of that wave, joiners that have asked this
  // process, and the contact that it has asked itself.
  bool is_neighbor(Rank rank) const;
  // Calls f(rank) for each neighbor, for some of them more than once.
  template <typename F>
  void for_each_neighbor(F f) const;
  // Of how many identifiers it knows something; at most Room.
  std::int32_t exceptions() const { return known_.size(); }

 private:
  static constexpr std::uint32_t fenced = Change::fenced;
  // An identifier of which nothing but these is known may be forgotten.
  static constexpr std::uint32_t idle =
      Change::dead | Change::sure | Change::counted | Change::told | Change::told_dead;

  // What is known of others as long as the view is the same, and what is due.
  static constexpr std::uint32_t of_view = Change::told | Change::told_dead | Change::in_wave |
                                           Change::removed | Change::counted | Change::joins |
                                           Change::added | Change::leaf | Change::leaf_due;

  // A survey's or a proposal's way down the tree and up again, as one process sees it.
  struct Wave {
    Rank parent = no_rank;     // no_rank: this process is the coordinator
    std::int32_t unsent = -1;  // the next child that it is sent to; -1: there is none
    std::int32_t waiting = 0;  // children that have not answered
    std::uint32_t is_survey = 0;
    std::uint32_t is_leaf = 0;  // admitted by it: those below are others' to ask
    [[maybe_unused]] std::uint32_t padding = 0;
    Ballot ballot;
    Tally reach;     // of a proposal: all whom it goes to
    Tally answered;  // below and here
  };

  LocalMembership(const MembershipConfig& config, Rank self);

  // How far from the other identifiers one may join, and how many may in one view.
  static constexpr std::int32_t reach_beyond = static_cast<std::int32_t>(Room / 2);
  static constexpr std::int32_t admitted_max = static_cast<std::int32_t>(Room / 4);

  bool is_gap(Rank id) const {
    return id < view_.root || index(id) >= view_.limit || known_.is(id, Change::hole);
  }
  bool is_wave_gap(Rank id) const;
  bool is_ancestor(Rank id) const;
  bool is_sure(Rank id) const;
  bool is_child(Rank id) const;
  bool is_wave_child(Rank id) const;
  bool is_leaf(Rank id) const;
  Rank parent() const;
  std::int32_t next_child(std::int32_t after) const;
  std::int32_t next_wave_child(std::int32_t after) const;

  bool leads() const { return leads_ != 0; }
  bool merge(const Message& message, std::uint32_t besides);
  bool concerns(Rank rank, Evidence evidence) const;
  void fence(Rank rank, Evidence evidence);
  bool note(Rank rank, std::uint32_t what);
  bool is_heard(const Message& message);
  void handle_as_member(const Message& message);
  void handle_as_stranger(const Message& message);
  void handle_as_joiner(const Message& message);
  void handle_admission(const Message& message);
  void handle_join(const Message& message);
  void ask_next_contact();
  bool has_place(Rank id) const;
  void note_joiner(Rank id);
  void count_joiners();
  bool is_candidate(const Change& change) const;
  LocalView next_view() const;
  void add_holes_around(Message& message) const;
  void handle_proposal(const Message& message);
  void handle_acceptance(const Message& message);

  void act();
  void count_sure();
  bool is_quorum(std::int64_t agreeing) const;
  void lead();
  void propose();
  void begin_wave(Rank parent, Ballot ballot, bool is_survey, bool is_leaf);
  void maybe_complete();
  void decide();
  void install(const LocalView& view);
  void note_changes();
  void note_new_holes(const LocalView& before);
  void forget_far_holes();
  void become_excluded();

  Message message_to(Rank to, LocalKind kind) const;
  Message proposal_to(Rank to) const;
  Message report_to(Rank to);
  std::optional<Message> poll_view();
  std::optional<Message> poll_wave();

  const MembershipConfig* config_;
  LocalView view_;
  Changes<Room> known_;
  Tally reach_;  // of the members without those fenced who are counted
  Wave wave_;
  Ballot heard_;    // the latest ballot
  LocalView next_;  // the latest accepted proposal
  Time retry_at_ = never;
  std::uint64_t taken_in_ = 0;  // of no member: the latest epoch in which it was taken for one

  Rank self_;
  Rank contact_ = no_rank;         // of a joiner: whom it has asked
  Rank informed_ = no_rank;        // the coordinator who has been told what is told
  std::int32_t view_unsent_ = -1;  // the next child that the view is sent to
  std::int32_t attempt_ = 0;
  Standing standing_ = Standing::member;
  // Yes or no, in words without padding: states are compared bytewise.
  std::uint32_t has_accepted_ = 0;  // a proposal in this epoch
  std::uint32_t leads_ = 0;         // has begun a wave in this epoch
  std::uint32_t must_repeat_ = 0;   // and proposes what it had accepted before
  std::uint32_t is_unsure_ = 0;     // whether its children are all members
  std::uint32_t is_answer_due_ = 0;
  std::uint32_t is_report_due_ = 0;
  std::uint32_t is_join_due_ = 0;
  std::uint32_t is_isolated_ = 0;
  std::uint32_t says_decide_ = 0;
  std::uint32_t says_install_ = 0;
  std::uint32_t says_exclude_ = 0;
  std::uint32_t says_isolate_ = 0;
};

// For the explorer's worlds, for the swarm's, and for large ones.
using TinyLocalMembership = LocalMembership<8>;
using SmallLocalMembership = LocalMembership<64>;
using LargeLocalMembership = LocalMembership<32>;
extern template class LocalMembership<8>;
extern template class LocalMembership<32>;
extern template class LocalMembership<64>;

static_assert(std::is_trivially_copyable_v<TinyLocalMembership>);
static_assert(std::has_unique_object_representations_v<TinyLocalMembership>);

}  // namespace resprout::protocols
