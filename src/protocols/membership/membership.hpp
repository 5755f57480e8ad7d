// Membership: one agreed view of who is alive, kept over a radix tree.
//
// Scalable Membership, section 3. The lowest member is the root. Who suspects somebody reports it
// to the coordinator, the lowest member whom it does not suspect; the coordinator proposes the next
// view down the tree, collects acceptances up the tree, and installs it when all whom it does not
// suspect have accepted it and these are a quorum. Beyond the paper, which is silent on agreement:
// a suspect is *fenced*, its messages are ignored by all who accept a proposal without it, so that
// a wrong suspicion costs the suspect its membership and nobody his view; and a coordinator that
// takes over first completes what it has itself accepted. docs/explanation/protocols/membership.md
// says why that is enough for all views to agree.
//
// It is a machine as core/protocol.hpp describes them, but its messages carry sets of processes, so
// it has its own words for them, and it gets its suspicions one by one, with their grade.
//
// Invariants
//  1. A process is a member of every view that it installs.
//  2. The epochs that it installs grow.
//  3. Within an epoch the ballots that it accepts grow.
//  4. Whom it has fenced it hears no more, unless to learn that it is excluded itself; that ends
//     only with a view without him.
//  5. It accepts for itself and all below it in the proposal's tree, when these have accepted it.
//  6. The proposals of one coordinator for one epoch differ only if all earlier ones are given up:
//     only acceptances of the latest are counted.
//
// Drivers: channels are in order; after each call drain poll_event, then ask poll_send when there
// is room, re-read poll_timeout. Spurious calls change nothing.
// Thread rule: a value.
#pragma once

#include <optional>
#include <type_traits>

#include "core/time.hpp"
#include "protocols/membership/message.hpp"
#include "protocols/membership/quorum.hpp"
#include "topology/radix_tree.hpp"

namespace resprout::protocols {

struct MembershipConfig {
  topology::RadixTree tree{2};
  Duration retry = 0;  // after so many ticks a joiner asks the next one, and who is isolated probes
};

// Why somebody is suspected.
enum class Evidence : std::uint8_t {
  silence,  // it is not heard: dead, hung, or on the other side of a cut
  death,    // its process has ended, for certain
};

template <std::size_t Words>
class Membership {
 public:
  using Ids = IdSet<Words>;
  using Message = MembershipMessage<Words>;
  enum class Standing : std::uint32_t { joining, member, excluded };

  // A member of a first view that all its members know (section 3.2): no message is sent for it.
  // REQUIRES, here and below: `config` outlives the machine; 0 <= self < capacity.
  static Membership founder(const MembershipConfig& config, Rank self, const Ids& members);
  // One that asks `contacts` for admission, one after the other, until it is welcome (section 3.7).
  // REQUIRES: contacts are not empty, and without self.
  static Membership joiner(const MembershipConfig& config, Rank self, const Ids& contacts);

  void start(Time now);
  void handle_message(Time now, const Message& message);
  void handle_timeout(Time now);
  // `rank` is suspected by this process. Once with each evidence is enough; others are no-ops.
  // Of a contact: it does not answer, ask the next one. Who joins under the identifier of a member
  // is that member's successor: the driver says that the member is dead before it hands in the
  // join.
  void handle_suspicion(Time now, Rank rank, Evidence evidence);
  // Whether that would change anything.
  bool would_heed(Rank rank, Evidence evidence) const;

  std::optional<MembershipEvent> poll_event();
  std::optional<Message> poll_send();
  Deadline poll_timeout() const;

  Rank self() const { return self_; }
  Standing standing() const { return standing_; }
  bool is_member() const { return standing_ == Standing::member; }
  // The one installed last; of an excluded process the one that it is not in.
  const View<Words>& view() const { return view_; }
  const Ids& fenced() const { return fenced_; }
  bool is_isolated() const { return is_isolated_ != 0; }
  // Whether it has asked this process for admission, and is not admitted yet.
  bool is_joiner(Rank rank) const { return joiners_.contains(rank); }
  // Whom this process thinks to be in charge of the next view.
  Rank coordinator() const { return (view_.members - fenced_).lowest(); }
  // Whether a message of the application, sent by `from` in view `epoch`, may be received now:
  // both are then in the same view (same-view delivery).
  bool may_receive(Rank from, std::uint64_t epoch) const {
    return is_member() && epoch == view_.epoch && (view_.members - fenced_).contains(from);
  }
  // Whom this process watches: its parent and its children, in this view, and in this view without
  // those whom it suspects.
  Ids neighbors() const;

 private:
  // A proposal's way down the tree and up again, as one process sees it.
  struct Wave {
    Rank parent = no_rank;  // no_rank: this process is the coordinator
    [[maybe_unused]] Rank padding = no_rank;
    Ballot ballot;
    Ids fenced;  // its tree is over the view without them
    Ids dead;
    Ids members;   // of the proposed view
    Ids unsent;    // children that it has not been sent to
    Ids waiting;   // children that have not answered
    Ids answered;  // who has, below and here
  };

  Membership(const MembershipConfig& config, Rank self);

  Ids children_of(Rank id, const Ids& members) const;
  Ids neighbors_among(const Ids& members) const;
  bool leads() const { return leads_ != 0; }
  void merge(const Ids& fenced, const Ids& dead);

  void handle_as_joiner(const Message& message);
  bool is_heard(const Message& message);
  void handle_report(const Message& message);
  void handle_proposal(const Message& message);
  void handle_acceptance(const Message& message);
  void handle_join(const Message& message);

  void act();
  void lead();
  void propose();
  void maybe_complete();
  void decide();
  void install(const View<Words>& view);
  void become_excluded(const View<Words>& view);
  void ask_next_contact();

  Message message_to(Rank to, MembershipKind kind) const;
  std::optional<Message> poll_wave();

  const MembershipConfig* config_;
  View<Words> view_;
  Ids fenced_;   // suspected members; of a joiner: contacts that do not answer
  Ids dead_;     // proven dead: members, and those who were, until they are admitted again
  Ids joiners_;  // who has asked this process for admission
  Ids contacts_;
  // What the coordinator `informed_` has been told.
  Ids told_fenced_;
  Ids told_dead_;
  Wave wave_;
  Ids accepted_;  // the members of the latest accepted proposal
  Ballot accepted_ballot_;
  Time retry_at_ = never;

  // To whom something is due.
  Ids detected_;
  Ids acks_due_;
  Ids views_due_;
  Ids redirects_due_;
  Ids probes_due_;

  Rank self_;
  Rank informed_ = no_rank;
  Rank contact_ = no_rank;
  Rank named_ = no_rank;  // the coordinator that joiners were told
  std::int32_t attempt_ = 0;
  Standing standing_ = Standing::member;
  // Yes or no, in words without padding: states are compared bytewise.
  std::uint32_t leads_ = 0;        // has proposed in this epoch
  std::uint32_t must_repeat_ = 0;  // and that was what it had accepted before
  std::uint32_t is_answer_due_ = 0;
  std::uint32_t is_report_due_ = 0;
  std::uint32_t is_join_due_ = 0;
  std::uint32_t is_isolated_ = 0;
  std::uint32_t says_decide_ = 0;
  std::uint32_t says_install_ = 0;
  std::uint32_t says_exclude_ = 0;
  std::uint32_t says_isolate_ = 0;
};

// For small worlds, and for real ones.
using SmallMembership = Membership<1>;
using LargeMembership = Membership<64>;
extern template class Membership<1>;
extern template class Membership<64>;

static_assert(std::is_trivially_copyable_v<SmallMembership>);
static_assert(std::has_unique_object_representations_v<SmallMembership>);

}  // namespace resprout::protocols
