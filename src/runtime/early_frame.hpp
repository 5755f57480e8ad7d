// A frame that came before what it is for: it is kept as it arrived, with whom it is from.
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "runtime/operation.hpp"
#include "runtime/transport.hpp"

namespace resprout::runtime {

struct EarlyFrame {
  EarlyFrame(int from_peer, const FrameHeader& its_header, std::span<const std::byte> its_prefix,
             Arrival its_data)
      : peer(from_peer),
        header(its_header),
        prefix(its_prefix.begin(), its_prefix.end()),
        arrival(lasting(std::move(its_data))) {}

  int peer;
  FrameHeader header;
  std::vector<std::byte> prefix;
  Arrival arrival;
};

}  // namespace resprout::runtime
