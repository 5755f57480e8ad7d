// What the processes of a membership with local views say to each other. No message, and nobody,
// has a list of the members: a view is named by its epoch, the number of its members and a digest
// of them.
//
// Thread rule: values.
#pragma once

#include <cstdint>
#include <type_traits>

#include "core/random.hpp"
#include "core/rank.hpp"
#include "protocols/local_membership/changes.hpp"
#include "protocols/membership/message.hpp"

namespace resprout::protocols {

// How many there are in a set of processes, and a digest of who. The digest is a sum over them, so
// that it does not depend on the order, and that of disjoint sets is the sum of theirs. By accident
// two sets have the same one once in 2^64; against malice it is no protection.
struct Tally {
  std::uint64_t digest = 0;
  std::int64_t count = 0;

  static constexpr Tally of(Rank id) {
    auto state = static_cast<std::uint64_t>(index(id));
    return {splitmix64(state), 1};
  }
  // Of 0 .. count-1.
  static constexpr Tally first(std::int32_t count) {
    Tally all;
    for (std::int32_t id = 0; id < count; ++id) all += of(rank_at(id));
    return all;
  }
  constexpr Tally& operator+=(const Tally& other) {
    digest += other.digest;
    count += other.count;
    return *this;
  }
  constexpr Tally& operator-=(const Tally& other) {
    digest -= other.digest;
    count -= other.count;
    return *this;
  }
  constexpr bool operator==(const Tally&) const = default;
};

struct LocalView {
  std::uint64_t epoch = 0;
  Tally members;
  Rank root = no_rank;     // the lowest member
  std::int32_t limit = 0;  // identifiers are below

  // Of 0 .. procs-1, in epoch 1. Takes O(procs) time, and no memory.
  static constexpr LocalView first(std::int32_t procs) {
    return {1, Tally::first(procs), rank_at(0), procs};
  }
  constexpr bool operator==(const LocalView&) const = default;
};

enum class LocalKind : std::uint32_t {
  report,      // to the coordinator: these have failed, these want to join
  survey,      // down the tree: how many are you, without these?
  propose,     // down the tree: the next view is you without these and with those, so many and with
               // this digest
  acceptance,  // up the tree: how many have answered a survey, or accepted a proposal
  install,     // the view of the sender is decided
  probe,       // from one without a quorum to those whom it does not hear
  stranger,    // an answer: the sender is no member
  join,        // from who is no member: admit me
};

template <std::size_t Room>
struct LocalMessage {
  Rank from = no_rank;
  Rank to = no_rank;
  LocalKind kind = LocalKind::report;
  [[maybe_unused]] std::uint32_t padding = 0;
  Ballot ballot;   // survey, propose, acceptance
  LocalView view;  // that the sender has installed; of a joiner: that it has accepted the next of
  LocalView next;  // propose: the next view
  Tally reach;     // propose: of all members whom the wave goes to; acceptance: of those below
  // report, survey, propose: of whom nobody shall listen to it is said that they are `fenced`, and
  // `dead`, `sure` and `removed`; of who wants to join, `joins` and `added`. To who is added also
  // the `hole`s around it.
  Changes<Room> changes;

  constexpr bool operator==(const LocalMessage&) const = default;
};

static_assert(std::has_unique_object_representations_v<LocalMessage<8>>);

enum class LocalEventKind : std::uint8_t {
  detect,   // this process suspects `about`, and listens to it no longer
  decide,   // this process, the coordinator, has the answers that it needs
  leave,    // `about` is not in the view that is installed next
  enter,    // `about` is admitted in the view that is installed next
  install,  // the view has changed: view(). Also said of the first one
  exclude,  // this process is no member any more
  isolate,  // too few are left on this side; waiting calls end with an error
};

struct LocalEvent {
  LocalEventKind kind;
  Rank about = no_rank;
};

}  // namespace resprout::protocols
