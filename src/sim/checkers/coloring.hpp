// When a corrected broadcast promises to color everybody who lives, provided that the root does.
//
// docs/explanation/protocols/corrected_tree.md has the promises, failure_proof.md and delayed.md
// the reasons. Thread rule: pure functions.
#pragma once

#include <cstdint>

#include "protocols/corrected_tree/config.hpp"
#include "protocols/correction/rules.hpp"

namespace resprout::sim {

// The longest run, on the closed ring, of ranks that no tree message ever reaches if those in
// `dead` (bit i: rank i) have been dead from the start. REQUIRES: at most 64 processes.
std::int32_t gap_of(const protocols::CorrectedTreeConfig& config, std::uint64_t dead);

// `dead`: before the operation. `crashes`: how many may die while it runs, at most.
bool must_color_everybody(const protocols::CorrectedTreeConfig& config, std::uint64_t dead,
                          int crashes);

}  // namespace resprout::sim
