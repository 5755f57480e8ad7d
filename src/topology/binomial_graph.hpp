// The binomial graph of all ranks: v is linked with v + 2^i and v - 2^i, round the ring, for every
// 2^i below their number.
//
// Plan B (Revoke), section 3.2; Angskun, Bosilca, Dongarra, "Binomial Graph: A Scalable and
// Fault-Tolerant Logical Network Topology" (ISPA 2007). Every rank has equally many neighbors, at
// most 2 * ceil(log2 procs); where some v + 2^i is some v - 2^j there are fewer, and each is linked
// once (docs/reference/errata.md).
//
// Thread rule: a value, no state.
#pragma once

#include <bit>
#include <cstdint>

#include "topology/ring.hpp"

namespace resprout::topology {

struct BinomialGraph {
  std::int32_t procs;  // >= 1

  // How many 2^i are below procs.
  constexpr std::int32_t steps() const {
    return std::bit_width(static_cast<std::uint32_t>(procs - 1));
  }

  // v + 2^i. REQUIRES: 0 <= v < procs; 0 <= i < steps().
  constexpr std::int32_t right(std::int32_t v, std::int32_t i) const {
    return ring_neighbor(v, 1 << i, procs);
  }

  // The links of v are numbered: to the right, from near to far, then to the left. A number whose
  // link is among those to the right already has none: -1.
  constexpr std::int32_t link_numbers() const { return 2 * steps(); }
  // REQUIRES: 0 <= v < procs; 0 <= number < link_numbers().
  constexpr std::int32_t link(std::int32_t v, std::int32_t number) const {
    if (number < steps()) return right(v, number);
    const std::int32_t distance = 1 << (number - steps());
    return is_power_of_two(procs - distance) ? -1 : ring_neighbor(v, -distance, procs);
  }

  // REQUIRES: 0 <= v, w < procs.
  constexpr bool are_linked(std::int32_t v, std::int32_t w) const {
    const std::int32_t distance = ring_distance(v, w, procs);
    return distance != 0 && (is_power_of_two(distance) || is_power_of_two(procs - distance));
  }

  // How many neighbors each has.
  constexpr std::int32_t degree() const {
    std::int32_t count = 0;
    for (std::int32_t number = 0; number < link_numbers(); ++number)
      count += link(0, number) >= 0 ? 1 : 0;
    return count;
  }

  // REQUIRES: value >= 1. std::has_single_bit would need a library function on some machines.
  static constexpr bool is_power_of_two(std::int32_t value) { return (value & (value - 1)) == 0; }
};

}  // namespace resprout::topology
