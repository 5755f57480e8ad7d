// To which checkpoint a job goes back, and who has the part of whom: decided by each rank for
// itself, from what all have.
//
// Invariants
//  1. All that are given the same holdings decide the same.
//  2. What is gone back to is whole: somebody has the part of each rank.
//
// Thread rule: pure.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace resprout::runtime {

// Where a part of a checkpoint lies; the lower one is read sooner.
enum class Held : std::int32_t { own_memory = 0, other_memory = 1, file = 2 };

// `holder` has the part of `owner` in this generation, and it is whole. Travels as it stands.
struct Holding {
  std::int32_t holder = 0;
  std::int32_t owner = 0;
  Held place = Held::own_memory;
  std::int32_t unused = 0;
  std::uint64_t generation = 0;
  std::uint64_t counted = 0;  // as ImageName has it
  std::uint64_t bytes = 0;    // how long it is
};

struct Recovery {
  std::uint64_t generation = 0;    // the newest that is whole; 0: none is
  std::vector<Holding> of_owners;  // one for each rank; empty, if none is whole
  std::uint64_t newest = 0;        // of which there is any part
  std::uint64_t counted = 0;       // the newest that is known to have been whole
  std::vector<int> lost;           // if none is whole: who has no part in the newest that was
};

Recovery find_recovery(std::span<const Holding> holdings, int ranks);

}  // namespace resprout::runtime
