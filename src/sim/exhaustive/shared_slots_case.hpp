// What the explorer explores of shared slots: all programs of so many operations, in a world of
// their own.
// Thread rule: no shared state.
#pragma once

#include <string>

#include "registry/spec.hpp"
#include "sim/exhaustive/case.hpp"

namespace resprout::sim {

// The empty string, or what is wrong with the case. REQUIRES: its spec is of shared slots.
std::string refuse_shared_slots(const Case& given, const registry::Spec& spec);

// REQUIRES: not refused.
Finding explore_shared_slots(const Case& given, const registry::Spec& spec);

}  // namespace resprout::sim
