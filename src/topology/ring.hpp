// The ring of all ranks, 0 to procs-1 and round to 0 again.
//
// Corrected Trees, section 3.1. "Left" is towards lower ranks, "right" towards higher ones.
// Thread rule: pure functions.
#pragma once

#include <cstdint>

namespace resprout::topology {

// The rank `offset` places to the right of `rank` (to the left if negative).
// REQUIRES: 0 <= rank < procs; -procs <= offset <= procs.
constexpr std::int32_t ring_neighbor(std::int32_t rank, std::int32_t offset, std::int32_t procs) {
  if (offset < 0) return rank + offset < 0 ? rank + offset + procs : rank + offset;
  // Subtracts first: rank + offset may be larger than any rank.
  return rank - procs + offset >= 0 ? rank - procs + offset : rank + offset;
}

// How many places `to` is to the right of `from`: 0 .. procs-1.
// REQUIRES: 0 <= from, to < procs.
constexpr std::int32_t ring_distance(std::int32_t from, std::int32_t to, std::int32_t procs) {
  return to >= from ? to - from : to - from + procs;
}

}  // namespace resprout::topology
