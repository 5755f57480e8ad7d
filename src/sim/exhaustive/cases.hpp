// What the explorer can be asked to explore: a protocol by its spec, its size, the faults, the
// deliberate defect.
// Thread rule: no shared state.
#pragma once

#include <string>

#include "sim/exhaustive/case.hpp"

namespace resprout::sim {

// The empty string, or what is wrong with the case.
std::string refuse(const Case& given);

// REQUIRES: not refused.
Finding explore_case(const Case& given);

}  // namespace resprout::sim
