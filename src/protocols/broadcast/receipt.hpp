// How one process came by the payload of a broadcast, and what its driver must be told of it.
//
// Invariants
//  1. A process is colored once, by its first message, or because it is the root.
//  2. `colored` and `deliver` are said right after that message was handled, and speak of it.
// Thread rule: a value.
#pragma once

#include <cstdint>
#include <optional>

#include "core/event.hpp"

namespace resprout::protocols {

class Receipt {
 public:
  bool is_colored() const { return from_ != no_rank; }
  bool is_frozen() const { return pending_ == Pending::frozen; }

  // The root has its own input. REQUIRES: not colored.
  void become_root(Rank self) {
    from_ = self;
    kind_ = MessageKind::tree;
    slot_ = Slot::input;
    pending_ = Pending::deliver;
  }

  // REQUIRES: not colored; message.tag < 256.
  void become_colored(const Message& message) {
    from_ = message.from;
    kind_ = message.kind;
    slot_ = message.slot;
    tag_ = static_cast<std::uint8_t>(message.tag);
    pending_ = Pending::colored;
  }

  // The payload came with the dissemination, or it was here from the beginning.
  bool is_from_dissemination() const { return is_colored() && kind_ == MessageKind::tree; }
  // Who colored this process; the root itself; no_rank if it is not colored.
  Rank from() const { return from_; }

  // Says nothing any more.
  void freeze() { pending_ = Pending::frozen; }

  // `colored` and `deliver`; the root: `deliver`. `round`: that of the message.
  std::optional<Event> poll(Rank self, std::uint32_t round = 0) {
    if (pending_ != Pending::colored && pending_ != Pending::deliver) return std::nullopt;
    const EventKind kind = pending_ == Pending::colored ? EventKind::colored : EventKind::deliver;
    pending_ = pending_ == Pending::colored ? Pending::deliver : Pending::nothing;
    return Event{kind, {from_, self, round, kind_, slot_, tag_}};
  }

 private:
  enum class Pending : std::uint8_t { nothing, colored, deliver, frozen };

  Rank from_ = no_rank;
  MessageKind kind_ = MessageKind::tree;
  Slot slot_ = Slot::none;
  std::uint8_t tag_ = 0;
  Pending pending_ = Pending::nothing;
};

static_assert(sizeof(Receipt) == 8);

}  // namespace resprout::protocols
