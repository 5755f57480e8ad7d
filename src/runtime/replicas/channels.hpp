// What goes over the connections between planes: frames of several kinds of conversations. One word
// in front of each frame says which one it belongs to.
// Thread rule: values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

#include "runtime/replicas/replica.hpp"

namespace resprout::runtime {

enum class Channel : std::uint32_t {
  votes,      // about messages: vote_frame.hpp
  decisions,  // of the replicas of one rank: decisions.hpp
  lags,       // likewise: lag.hpp
  states,     // likewise: states.hpp
  memory,     // of the links themselves: frames that lie elsewhere, plane_links_memory.cpp
  recalls,    // what a loss denies somebody: recall.hpp
};
inline constexpr std::size_t channels = 6;

struct ChannelFrame {
  Channel channel = Channel::votes;
  std::span<const std::byte> frame;
};

// What came over a connection. Nothing: it comes from another program.
inline std::optional<ChannelFrame> read_channel_frame(std::span<const std::byte> bytes) {
  std::uint32_t channel = 0;
  if (bytes.size() < sizeof channel) return std::nullopt;
  std::memcpy(&channel, bytes.data(), sizeof channel);
  if (channel >= channels) return std::nullopt;
  return ChannelFrame{static_cast<Channel>(channel), bytes.subspan(sizeof channel)};
}

class ChannelNetwork {
 public:
  // Sends it whenever that is possible, behind what was sent there before; `frame` is not kept.
  virtual void send(Replica to, Channel channel, std::span<const std::byte> frame) = 0;

 protected:
  ~ChannelNetwork() = default;
};

}  // namespace resprout::runtime
