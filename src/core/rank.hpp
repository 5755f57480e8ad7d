// A rank: the number of one process of an operation, 0 .. procs-1.
//
// Ranks are a type of their own so that they are not mixed up with counts, offsets or virtual
// ranks; arithmetic on them is written out, through index() and rank_at().
#pragma once

#include <cstdint>

namespace resprout {

enum class Rank : std::int32_t {};

// No rank at all: a parent of the root, a child that does not exist.
inline constexpr Rank no_rank{-1};

constexpr std::int32_t index(Rank rank) { return static_cast<std::int32_t>(rank); }
constexpr Rank rank_at(std::int32_t index) { return static_cast<Rank>(index); }

}  // namespace resprout
