// The radix tree of a membership: who is whose parent, told by identifiers alone.
//
// Scalable Membership, sections 3.1 to 3.4 and 3.7. Identifiers stand level by level, with the
// children of v from a*v + 1 to a*v + a, so that the digits of an identifier are the way from 0 to
// it. Where some are no members, their children belong to the nearest member above (section 3.4);
// those who have none above are children of the root, the lowest member (section 3.6). A new
// identifier beyond all others is therefore a leaf, and a recovered one stands where it stood
// (section 3.7). Nothing has to be agreed on but the members.
//
// Thread rule: a value, no state.
#pragma once

#include <cstdint>

namespace resprout::topology {

struct RadixTree {
  std::int32_t radix;  // a power of two, >= 2

  static constexpr std::int32_t radix_max = 1024;
  static constexpr bool is_radix(std::int64_t value) {
    return value >= 2 && value <= radix_max && (value & (value - 1)) == 0;
  }

  // Where all are members. -1: of the topmost.
  constexpr std::int32_t parent(std::int32_t id) const { return id == 0 ? -1 : (id - 1) / radix; }

  constexpr std::int32_t level(std::int32_t id) const {
    std::int32_t levels = 0;
    for (; id > 0; id = parent(id)) ++levels;
    return levels;
  }

  // The same among members; is_member(id) tells who is. -1: of the root.
  // REQUIRES: `id` is a member, `root` the lowest one.
  template <typename IsMember>
  constexpr std::int32_t parent_among(std::int32_t id, std::int32_t root,
                                      IsMember is_member) const {
    if (id == root) return -1;
    for (std::int32_t above = parent(id); above > root; above = parent(above))
      if (is_member(above)) return above;
    return root;
  }

  // How many steps it is below the root.
  template <typename IsMember>
  constexpr std::int32_t level_among(std::int32_t id, std::int32_t root, IsMember is_member) const {
    std::int32_t levels = 0;
    while ((id = parent_among(id, root, is_member)) >= 0) ++levels;
    return levels;
  }
};

}  // namespace resprout::topology
