// What the replicas of two ranks say to each other about one message, and what a machine says of it
// to its driver.
//
// A *copy* is the message as one sender replica sent it; its *origin* is that replica. Processes
// are ranks of the exchange: 0 .. degree-1 are the sender's replicas, degree .. 2 degree-1 the
// receiver's. A message about a copy names its origin, which may not be its sender.
//
// Thread rule: values.
#pragma once

#include <array>
#include <cstdint>
#include <type_traits>

#include "core/rank.hpp"

namespace resprout::protocols {

inline constexpr std::int32_t degree_max = 3;

enum class VoteKind : std::uint32_t {
  data,      // a copy. Its digest is of the bytes as they came: the receiver's driver computes it
  digest,    // a sender's digest of its copy
  inquiry,   // to a sibling, or a sender: what do you know of the copies?
  opinions,  // the answer: of which origins it knows the digest, and which
  pull,      // to anybody: give me a copy of one of these origins
  nothing,   // the answer of who has none
};

struct VoteMessage {
  Rank from = no_rank;
  Rank to = no_rank;
  VoteKind kind = VoteKind::data;
  std::uint32_t origins = 0;  // bit i: origin i is meant, and digests[i] said of it
  std::array<std::uint64_t, degree_max> digests{};

  constexpr bool operator==(const VoteMessage&) const = default;
};

static_assert(std::has_unique_object_representations_v<VoteMessage>);

enum class VoteEventKind : std::uint8_t {
  deliver,    // the copy of `origin` is the program's: its call may return
  confirm,    // two origins agree on what the program has, or has had repaired
  mismatch,   // two things that should be equal are not: something is corrupted
  outvote,    // what was heard of the copy of `origin` is wrong: two others agree
  taint,      // what was delivered, the copy of `origin`, is wrong: so is all that came of it since
  repair,     // the copy of `origin` is what should have been delivered
  finish,     // over. `agreeing` origins have said the same; 1: nobody was left to compare with
  undecided,  // over: copies differ, and it cannot be told which is right
  lost,       // over: nobody who lives has the copy that is needed
};

struct VoteEvent {
  VoteEventKind kind;
  Rank origin = no_rank;
  std::int32_t agreeing = 0;

  constexpr bool operator==(const VoteEvent&) const = default;
};

}  // namespace resprout::protocols
