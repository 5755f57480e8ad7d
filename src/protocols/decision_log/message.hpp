// What the replicas of one rank say to each other about what was decided, and what a machine tells
// its driver.
//
// Decisions are numbered from 1 on. What is decided are bytes of the driver; a message names those
// that travel with it.
// Thread rule: values.
#pragma once

#include <cstdint>
#include <type_traits>

#include "core/rank.hpp"

namespace resprout::protocols {

inline constexpr std::int32_t replicas_max = 3;

struct DecisionLogConfig {
  std::int32_t degree = 2;      // replicas, 2 or 3
  std::uint64_t window = 1024;  // so many decisions does a replica hold at most; 1 or more
};

enum class DecisionKind : std::uint32_t {
  decisions,       // of the leader: the next ones
  inquiry,         // of who is about to lead: which ones do you have behind mine?
  answer,          // those
  acknowledgment,  // of anybody: so many do I have
  farewell,        // of anybody: the program has ended, I need nothing and have nothing new
};

struct DecisionMessage {
  Rank from = no_rank;
  Rank to = no_rank;
  DecisionKind kind = DecisionKind::decisions;
  std::uint32_t round = 0;     // the number of the leader that the sender has promised to follow
  std::uint64_t first = 0;     // of those that travel with it
  std::uint64_t count = 0;     // how many
  std::uint64_t length = 0;    // so many does the sender know
  std::uint64_t released = 0;  // all up to this one it holds no more

  constexpr bool operator==(const DecisionMessage&) const = default;
};

static_assert(std::has_unique_object_representations_v<DecisionMessage>);

enum class DecisionEventKind : std::uint8_t {
  learn,    // the decisions first .. last of the message just handled are new: they are kept
  release,  // those up to `last` are needed no more
  lead,     // from now on this process decides, as soon as it has followed what it knows
  depose,   // others take this process for lost and follow another one: it has to end
};

struct DecisionEvent {
  DecisionEventKind kind;
  std::uint64_t first = 0;
  std::uint64_t last = 0;

  constexpr bool operator==(const DecisionEvent&) const = default;
};

}  // namespace resprout::protocols
