// A place in the radix tree of a membership near those whom somebody is near: below one of them.
//
// Scalable Membership, section 3.1: neighbors in the tree should be near each other in the network.
// If the first of each host gets the lowest free place, and each further one the lowest that is
// free below a member of its host, N hosts are joined by N - 1 edges.
//
// Thread rule: pure functions.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "protocols/membership/id_set.hpp"
#include "topology/radix_tree.hpp"

namespace resprout::protocols {

// The lowest one from `first` to `last` that is not taken.
template <std::size_t Words>
std::optional<std::int32_t> lowest_free(const IdSet<Words>& taken, std::int64_t first,
                                        std::int64_t last) {
  last = std::min<std::int64_t>(last, IdSet<Words>::capacity - 1);
  for (std::int64_t id = first; id <= last; ++id)
    if (!taken.contains(rank_at(static_cast<std::int32_t>(id))))
      return static_cast<std::int32_t>(id);
  return std::nullopt;
}

// The lowest place right below one of `near`, the first of them that has one, else the lowest one:
// from `first` on, and not in `taken`. Nothing: all are taken.
template <std::size_t Words>
std::optional<std::int32_t> place_below(std::span<const std::int32_t> near,
                                        topology::RadixTree tree, std::int32_t first,
                                        const IdSet<Words>& taken) {
  // Children of higher identifiers are higher: the first free one is the lowest.
  for (const std::int32_t id : near) {
    const std::int64_t child = std::int64_t{id} * tree.radix + 1;
    const std::int64_t last = child + tree.radix - 1;
    if (const auto free = lowest_free(taken, std::max<std::int64_t>(first, child), last))
      return free;
  }
  return lowest_free(taken, first, IdSet<Words>::capacity - 1);
}

}  // namespace resprout::protocols
