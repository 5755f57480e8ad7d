// How the roots of a forest give each other what they have, one exchange after the other: each with
// all others, or, by recursive doubling, with those whose numbers differ in one bit.
//
// Thread rule: a value, no state.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "topology/range_forest.hpp"

namespace resprout::topology {

struct RootExchange {
  RangeForest forest;
  std::int32_t own;  // which root, from 0 on
  bool is_doubling;  // REQUIRES: the roots are a power of two

  // With how many others.
  constexpr std::int32_t count() const {
    const std::int32_t roots = forest.roots;
    return is_doubling ? std::bit_width(static_cast<std::uint32_t>(roots)) - 1 : roots - 1;
  }

  // With whom in the i-th exchange: the i-th root behind the own one, or the one across bit i.
  constexpr std::int32_t partner(std::int32_t i) const {
    return forest.root(is_doubling ? own ^ (1 << i) : (own + 1 + i) % forest.roots);
  }

  // What is sent must not change on the way. So all is sent before anything is folded; or, by
  // doubling, in each exchange. `told` and `folded`: in so many exchanges.
  constexpr bool may_tell(std::int32_t told, std::int32_t folded) const {
    return told < count() && (!is_doubling || told == folded);
  }
  constexpr bool may_fold(std::int32_t told, std::int32_t folded) const {
    return folded < count() && told >= (is_doubling ? folded + 1 : count());
  }
  // The exchanges in which something may be due, where `folded` have been folded, end before this.
  constexpr std::int32_t due_until(std::int32_t folded) const {
    return is_doubling ? std::min(folded + 1, count()) : count();
  }
};

}  // namespace resprout::topology
