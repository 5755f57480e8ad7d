// What a machine may look at while it handles something: the time, what the failure detector of
// this process says, and the messages and contacts that the machine itself asked to keep.
//
// The lists belong to the driver. They are arguments, not members, so that a machine stays a few
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

// What a machine that detects failures by itself remembers of one process that it deals with.
struct Contact {
  Rank rank = no_rank;
  std::uint16_t distance = 0;  // in the tree
  bool owes_answer = false;    // it waits for an acknowledgment of this process
  bool is_asked = false;       // this process waits for a sign of life, since `asked`
  bool is_overdue = false;     // it has waited for too long
  std::uint8_t unread = 0;     // what it has sent and was not read yet, one bit a kind
  std::uint8_t answered = 0;   // what of that has been answered all the same
  std::int32_t patience = 0;   // how long it may take to answer, in ticks; 0: not yet computed
  Time asked = never;          // when something was last sent that it has to answer
  Time answer_by = never;      // when its question, read or not, has to be answered at the latest
};

// Memory of the driver for contacts, which the machine fills from the beginning.
struct Contacts {
  Contact* begin = nullptr;
  std::uint32_t count = 0;
  std::uint32_t capacity = 0;

  Contact* find(Rank rank) {
    for (Contact* it = begin; it != begin + count; ++it)
      if (it->rank == rank) return it;
    return nullptr;
  }
};

struct Context {
  Time now;
  Suspects suspects;
  Mailbox mailbox;
  // For machines that keep contacts: before each call there is room for one more. Else null.
  Contacts* contacts = nullptr;
};

}  // namespace resprout
