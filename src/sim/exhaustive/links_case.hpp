// What the explorer explores of the watch over data links: a world of its own, the same questions.
// Thread rule: no shared state.
#pragma once

#include <string>

#include "registry/spec.hpp"
#include "sim/exhaustive/case.hpp"

namespace resprout::sim {

// The empty string, or what is wrong with the case. REQUIRES: its spec is of a link-watch.
std::string refuse_links(const Case& given, const registry::Spec& spec);

// REQUIRES: not refused.
Finding explore_links(const Case& given, const registry::Spec& spec);

}  // namespace resprout::sim
