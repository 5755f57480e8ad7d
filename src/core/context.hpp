// What a machine may look at while it handles something: the time, what the failure detector of
// this process says, and the messages that the machine itself asked to keep.
//
// Both lists belong to the driver. They are arguments, not members, so that a machine stays a few
// words that can be copied, compared and forked.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/message.hpp"
#include "core/rank.hpp"
#include "core/time.hpp"

namespace resprout {

// The ranks that this process suspects, ascending, without repetition. It only grows while an
// operation is alive.
struct Suspects {
  const Rank* begin = nullptr;
  std::uint32_t count = 0;

  bool contains(Rank rank) const { return std::binary_search(begin, begin + count, rank); }
  bool empty() const { return count == 0; }
};

// The messages for which `handle_message` answered `keep`, in the order of their arrival. The
// driver keeps their payloads until they were combined or adopted, or an event says that they are
// obsolete.
struct Mailbox {
  const Message* begin = nullptr;
  std::uint32_t count = 0;

  const Message* find(MessageKind kind, std::uint32_t round, Rank from) const {
    for (const Message* it = begin; it != begin + count; ++it)
      if (it->kind == kind && it->round == round && it->from == from) return it;
    return nullptr;
  }
};

struct Context {
  Time now;
  Suspects suspects;
  Mailbox mailbox;
};

}  // namespace resprout
