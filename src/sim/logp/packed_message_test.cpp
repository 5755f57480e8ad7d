// See packed_message.hpp.
#include "sim/logp/packed_message.hpp"

#include "doctest/doctest.h"

using namespace resprout;
using namespace resprout::sim;

TEST_CASE("a packed message comes out as it went in, and says whom it is to") {
  const Message messages[] = {
      {},
      {.from = rank_at(0), .to = rank_at(INT32_MAX), .round = UINT32_MAX},
      {rank_at(7), rank_at(8), 1u << 31, MessageKind::heartbeat, Slot::result, UINT16_MAX},
      {rank_at(1), no_rank, 3, MessageKind::correction, Slot::accumulator, 1}};
  for (const Message& message : messages) {
    CHECK(PackedMessage(message).message() == message);
    CHECK(PackedMessage(message).to() == message.to);
  }
}
