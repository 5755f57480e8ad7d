// What the processes of a membership say to each other, and the words that it is made of.
//
// Every message carries the view that its sender has installed, so that a process that is behind
// catches up with any message, and a process that is excluded learns it from any.
//
// Thread rule: values.
#pragma once

#include <compare>
#include <cstdint>
#include <type_traits>

#include "core/rank.hpp"
#include "protocols/membership/id_set.hpp"

namespace resprout::protocols {

// In parentheses the paper's names (Figure 3).
enum class MembershipKind : std::uint32_t {
  report,      // to the coordinator: these have failed (NODE_FAILURE, ROOT_FAILURE)
  report_ack,  // the coordinator has heard it (FAILURE_DET_ACK)
  propose,     // down the tree: the next view (FAILED_NODE, ROOT_DEAD, ROOT_AND_NODE_FAILURE,
               // NEW_NODE_JOIN, ALIVE_NODE_JOIN: it carries the set, so one kind does for all)
  acceptance,  // up the tree: who has accepted it (FAILURE_ACK, NEW_NODE_JOIN_ACK)
  install,     // the view of the sender is decided; to a joiner its welcome (JOIN_DET_ACK)
  join,        // to the coordinator, from who is no member (NEW_NODE, NODE_ALIVE)
  redirect,    // to a joiner: `about` is the coordinator
  probe,       // from one without a quorum to those whom it does not hear: who are you now?
};

// Which of the proposals for the same epoch is the later one. A ballot is of its coordinator alone.
struct Ballot {
  Rank coordinator = no_rank;
  std::int32_t attempt = 0;
  constexpr auto operator<=>(const Ballot&) const = default;
  constexpr bool exists() const { return coordinator != no_rank; }
};

template <std::size_t Words>
struct View {
  std::uint64_t epoch = 0;
  IdSet<Words> members;

  constexpr Rank root() const { return members.lowest(); }
  constexpr bool operator==(const View&) const = default;
};

template <std::size_t Words>
struct MembershipMessage {
  Rank from = no_rank;
  Rank to = no_rank;
  MembershipKind kind = MembershipKind::report;
  Rank about = no_rank;   // redirect: the coordinator
  Ballot ballot;          // propose, acceptance: of the proposal
  View<Words> view;       // that the sender has installed
  IdSet<Words> fenced;    // whom the sender does not listen to
  IdSet<Words> dead;      // who of them are proven dead
  IdSet<Words> members;   // propose: of the next view
  IdSet<Words> answered;  // acceptance: for whom it is one

  constexpr bool operator==(const MembershipMessage&) const = default;
};

static_assert(std::has_unique_object_representations_v<MembershipMessage<1>>);

enum class MembershipEventKind : std::uint8_t {
  detect,   // this process suspects `about`, a member, and listens to it no longer
  decide,   // this process, the coordinator, has the answers that it needs; `install` follows
  install,  // the view has changed: view(). Also said of the first one
  exclude,  // the members have gone on without this process: it may act no longer, only join again
  isolate,  // too few are left on this side; waiting calls end with an error
};

struct MembershipEvent {
  MembershipEventKind kind;
  Rank about = no_rank;
};

}  // namespace resprout::protocols
