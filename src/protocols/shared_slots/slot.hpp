// What a shared slot is called, and what it can say.
// Thread rule: values.
#pragma once

#include <cstdint>

namespace resprout::protocols {

struct SharedSlotsConfig {
  std::int32_t members = 2;
  // Powers of 2. A rendezvous is due when there were `broadcast_slots` broadcasts since the last
  // one.
  std::uint32_t broadcast_slots = 256;
  std::uint32_t rendezvous_slots = 2;
  // A power of 2. So many members are a group, if there are more of them.
  std::int32_t group = 16;
};

enum class SlotKind : std::uint8_t { broadcast, rendezvous };

// Each member has such a slot; it alone writes it.
struct SharedSlot {
  SlotKind kind;
  std::uint32_t index;   // in the member's area, among those of its kind
  std::uint64_t number;  // of the operation, among those of its kind: stands in the slot's stamp
};

// What a slot says of one operation.
enum class SlotWord : std::uint8_t {
  empty,  // nothing: its owner has not written it, or has written of an earlier operation
  full,   // a payload, with this word or not at all
  left,   // its owner does not take part
};

// Successive members that come to a rendezvous together: a group, or all that there are.
struct SlotGroup {
  std::int32_t first;
  std::int32_t end;
  friend bool operator==(const SlotGroup&, const SlotGroup&) = default;
};

struct SlotWrite {
  SharedSlot slot;  // the member's own
  SlotWord word;
};

}  // namespace resprout::protocols
