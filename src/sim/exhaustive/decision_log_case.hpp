// What the explorer explores of the decisions of a rank's replicas: a world of their own, the same
// questions.
// Thread rule: no shared state.
#pragma once

#include <string>

#include "registry/spec.hpp"
#include "sim/exhaustive/case.hpp"

namespace resprout::sim {

// The empty string, or what is wrong with the case. REQUIRES: its spec is of a decision-log.
std::string refuse_decision_log(const Case& given, const registry::Spec& spec);

// REQUIRES: not refused.
Finding explore_decision_log(const Case& given, const registry::Spec& spec);

}  // namespace resprout::sim
