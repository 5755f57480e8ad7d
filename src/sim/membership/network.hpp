// The two networks of Scalable Membership, section 5: the torus of BlueGene/L and an Ethernet with
// one switch, as section 7 explains what was measured on them.
//
// Thread rule: values.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "core/time.hpp"

namespace resprout::sim {

// Midplanes of 8 x 8 x 8 nodes, joined along z. Ranks are mapped to nodes in the order x, y, z. The
// whole midplane is allocated, so it is a torus and no mesh, however few nodes take part.
struct TorusOfMidplanes {
  static constexpr std::int32_t side = 8;
  static constexpr std::int32_t midplane = side * side * side;

  explicit constexpr TorusOfMidplanes(std::int32_t procs)
      : depth(side * std::max(1, (procs + midplane - 1) / midplane)) {}

  // Section 7.1: the sum of the differences of the coordinates, the short way around.
  constexpr std::int32_t hops(std::int32_t a, std::int32_t b) const {
    return around(a % side, b % side, side) + around(a / side % side, b / side % side, side) +
           around(a / (side * side), b / (side * side), depth);
  }

  std::int32_t depth;  // nodes along z

 private:
  static constexpr std::int32_t around(std::int32_t a, std::int32_t b, std::int32_t length) {
    const std::int32_t way = a < b ? b - a : a - b;
    return std::min(way, length - way);
  }
};

// A switch that serializes packet processing (section 7.2): each message takes its service time of
// it, one after the other, and the latency in all if nobody is before it.
class SerializingSwitch {
 public:
  // REQUIRES: 0 <= service <= latency.
  SerializingSwitch(Duration latency, Duration service) : latency_(latency), service_(service) {}

  // When a message arrives that is sent now. REQUIRES: called in the order of time.
  Time pass(Time now) {
    const Time begin = std::max(now, free_);
    free_ = begin + service_;
    return begin + latency_;
  }

 private:
  Duration latency_;
  Duration service_;
  Time free_{};
};

}  // namespace resprout::sim
