// Membership with local views: one agreed view of who is alive, of which each process knows only
// its own neighborhood, so that its memory does not depend on how many there are.
//
// Scalable Membership, section 5, names it as future work ("a variant of our protocol with
// localized views of the overall tree to limit the memory requirements to a constant size"). The
// rules of agreement are those of protocols/membership: fences, ballots, completion, quorums. What
// is different is what is known. A process knows the epoch, the root, the number of members, a
// digest of them; and of single identifiers only those who are *not* members among its ancestors
// and right below it, and whom it suspects now. Proposals say who is removed; acceptances count who
// accepts. docs/explanation/protocols/local_membership.md says why that is enough.
//
// Invariants
//  1. What is known as a hole is no member of the view; among the ancestors, and between this
//     process and its children in the view's tree, all holes are known, but for who is fenced.
//  2. A wave goes to every identifier that is neither a hole nor fenced by it; who has answered is
//     counted once.
//  3. A proposal is made only if it is known exactly who is left without the fenced: each of them
//     is a member for sure, or those who are left have been counted (a survey). What has then
//     accepted it is what it says.
//  4. As in protocols/membership, 1 to 6.
//
//  5. A proposal admits only who is then asked for it, and says how many there are without them,
//     who ever they were before. Only the root of the view makes such a proposal.
//
// Who asks a member for admission is answered for by this member until it is in: nobody is
// redirected. Who has no room for one change more ends as a member.
//
// Drivers: as of protocols/membership; and a process is told of suspicions of those whom it sends
// to and of its neighbors. A message to an identifier that nobody has any more is answered by such
// a suspicion, as of the dead. Thread rule: a value.
#pragma once

#include <optional>
#include <span>
#include <type_traits>

#include "core/time.hpp"
#include "protocols/local_membership/message.hpp"
#include "protocols/membership/membership.hpp"
#include "topology/radix_walk.hpp"

namespace resprout::protocols {

// Room: for so many holes and suspects at once. It is all the memory that grows with anything.
template <std::size_t Room>
class LocalMembership {
 public:
  using Message = LocalMessage<Room>;
  enum class Standing : std::uint32_t { member, joining, excluded };

  // A member of a first view that all its members know (section 3.2): no message is sent for it.
  // REQUIRES: `config` outlives the machine; `first` is LocalView::first(procs); self is in it.
  static LocalMembership founder(const MembershipConfig& config, Rank self, const LocalView& first);

  // One that asks `contacts` for admission, one after the other, until it is in (section 3.7). A
  // contact that is no member says so. REQUIRES: contacts are not empty, without self, and not more
  // than Room / 2.
  static LocalMembership joiner(const MembershipConfig& config, Rank self,
                                std::span<const Rank> contacts);

  void start(Time now);
  void handle_message(Time now, const Message& message);
  void handle_timeout(Time now);
  // `rank` is suspected by this process; heeded of its neighbors and those whom it waits for. Who
  // joins under the identifier of a member takes its place, whether its end was told or not; after
  // its admission an end before that is told no longer.
  void handle_suspicion(Time now, Rank rank, Evidence evidence);
  // Whether that would change anything.
  bool would_heed(Rank rank, Evidence evidence) const;

  std::optional<LocalEvent> poll_event();
  std::optional<Message> poll_send();
  Deadline poll_timeout() const;

  Rank self() const { return self_; }
  Standing standing() const { return standing_; }
  bool is_member() const { return standing_ == Standing::member; }
  // The one installed last, the last one that this process was in.
  const LocalView& view() const { return view_; }
  // Of a joiner: whether it waits for somebody whom it has asked, and whether it may ask `rank`.
  bool has_asked() const { return contact_ != no_rank; }
  bool may_ask(Rank rank) const { return known_.is(rank, Change::contact); }
  bool is_isolated() const { return is_isolated_ != 0; }
  // Whom this process thinks to be in charge of the next view.
  Rank coordinator() const;
  // Whether a message of the application, sent by `from` in view `epoch`, may be received now. Who
  // has sent it in that epoch was a member of it.
  bool may_receive(Rank from, std::uint64_t epoch) const {
    return is_member() && epoch == view_.epoch && (known_.of(from) & (Change::hole | fenced)) == 0;
  }
  // Whether this process watches `rank`: its parent and its children in the tree of the view, those
  // with whom it shares the wave that is on its way, who has asked it for admission, and whom it
  // has asked.
  bool is_neighbor(Rank rank) const;
  // All of them; some perhaps more than once.
  template <typename F>
  void for_each_neighbor(F f) const;
  // Of how many identifiers it knows anything.
  std::int32_t exceptions() const { return known_.size(); }

 private:
  static constexpr std::uint32_t fenced = Change::fenced;
  // What alone is no reason to remember somebody.
  static constexpr std::uint32_t idle =
      Change::dead | Change::sure | Change::counted | Change::told | Change::told_dead;

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
