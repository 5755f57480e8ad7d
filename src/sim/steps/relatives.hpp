// The table that a forest looks its answers up in, for simulations: every process asks for those of
// many others. Thread rule: a pure function.
#pragma once

#include <cstdint>
#include <vector>

#include "topology/range_forest.hpp"

namespace resprout::sim {

// For RangeForest::known.
inline std::vector<topology::RangeRelatives> relatives_of(const topology::RangeForest& forest) {
  std::vector<topology::RangeRelatives> all;
  all.reserve(static_cast<std::size_t>(forest.end - forest.begin));
  for (std::int32_t rank = forest.begin; rank < forest.end; ++rank)
    all.push_back(forest.relatives(rank));
  return all;
}

}  // namespace resprout::sim
