// What protocols say to each other. Sixteen bytes, trivially copyable; the payload is elsewhere.
//
// Payload bytes stay with the driver. A message names the slot of its sender that they are taken
// from; at the receiver, `slot != none` only says that a payload came along.
#pragma once

#include <cstdint>
#include <type_traits>

#include "core/rank.hpp"

namespace resprout {

enum class MessageKind : std::uint8_t {
  tree,            // broadcasts: dissemination, over trees or by gossip
  correction,      // correction on the ring; without a payload, in reliable broadcast: its offer
  pull,            // reliable broadcast: an uncolored process asks for the payload
  supply,          // reliable broadcast: the answer
  contribution,    // allreduce: a subtree's partial result, upwards
  result,          // allreduce: the decision, downwards
  heartbeat,       // failure detector
  acknowledgment,  // acknowledged tree: everybody below the sender has the payload; in-band
                   // detection: the sender lives
  keepalive,       // in-band detection: does the receiver live? It answers
  revocation,      // revoke: the communicator that the driver names is revoked
};

// Where the driver takes the payload bytes of a message from.
enum class Slot : std::uint8_t {
  none,         // no payload
  input,        // what the caller handed in
  accumulator,  // what `combine` events have built
  result,       // what the operation delivered
};

struct Message {
  Rank from = no_rank;
  Rank to = no_rank;
  std::uint32_t round = 0;  // meaning is the protocol's
  MessageKind kind = MessageKind::tree;
  Slot slot = Slot::none;
  std::uint16_t tag = 0;  // meaning is the protocol's

  constexpr bool operator==(const Message&) const = default;
};

static_assert(sizeof(Message) == 16 && std::is_trivially_copyable_v<Message>);

}  // namespace resprout
