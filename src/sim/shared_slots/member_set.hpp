// Who takes part in shared slots: a bit of each rank. Members are numbered in the order of ranks.
// Thread rule: pure functions.
#pragma once

#include <bit>
#include <cstdint>

#include "core/rank.hpp"

namespace resprout::sim {

// The rank of a member, and the other way round.
constexpr int rank_of(std::uint32_t members, Rank member) {
  for (int i = 0; i < index(member); ++i) members &= members - 1;
  return std::countr_zero(members);
}
constexpr Rank member_of(std::uint32_t members, int rank) {
  return rank_at(std::popcount(members & ((std::uint32_t{1} << rank) - 1)));
}

}  // namespace resprout::sim
