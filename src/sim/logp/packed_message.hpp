// A message as two words.
//
// A message is put together field by field. A copy of it as a whole right afterwards would have to
// wait until the fields are in the cache: processors forward a store to a load only if the load
// lies within it. Two words that are computed are not waited for.
// Thread rule: a value.
#pragma once

#include <cstdint>

#include "core/message.hpp"

namespace resprout::sim {

class PackedMessage {
 public:
  PackedMessage() = default;
  explicit PackedMessage(const Message& message)
      : route_(std::uint64_t{unsigned_of(message.from)} << 32 | unsigned_of(message.to)),
        rest_(std::uint64_t{message.round} << 32 | std::uint64_t{message.tag} << 16 |
              static_cast<std::uint64_t>(message.slot) << 8 |
              static_cast<std::uint64_t>(message.kind)) {}

  // From whom to whom: tells two messages of one time apart.
  std::uint64_t route() const { return route_; }
  Rank to() const { return rank_at(static_cast<std::int32_t>(route_)); }

  Message message() const {
    return {.from = rank_at(static_cast<std::int32_t>(route_ >> 32)),
            .to = to(),
            .round = static_cast<std::uint32_t>(rest_ >> 32),
            .kind = static_cast<MessageKind>(rest_ & 0xff),
            .slot = static_cast<Slot>(rest_ >> 8 & 0xff),
            .tag = static_cast<std::uint16_t>(rest_ >> 16)};
  }

 private:
  static std::uint32_t unsigned_of(Rank rank) { return static_cast<std::uint32_t>(index(rank)); }

  std::uint64_t route_;
  std::uint64_t rest_;
};

}  // namespace resprout::sim
