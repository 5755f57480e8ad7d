// When something is due if nobody fails, and how long an answer may take.
//
// FTCO, section 4 (f_ETA, f_timeout) and appendix A: functions of the tree alone, which each
// process can compute of any other. Thread rule: pure functions.
#pragma once

#include <cstdint>

#include "core/time.hpp"
#include "topology/range_forest.hpp"

namespace resprout::protocols {

// Of a message: from its send to its arrival latency + overhead; each send and receive takes a step
// of overhead.
struct Timing {
  Duration latency;
  Duration overhead;
};

// How many processes it deals with while nobody fails: its children, and its parent or, of several
// roots, the others.
std::int32_t neighbors_of(const topology::RangeForest& forest, std::int32_t rank);

// After how many ticks `rank` has the contributions of all its children, if all entered at once;
// 0: it has no children.
Duration contributions_due(const topology::RangeForest& forest, std::int32_t rank,
                           const Timing& timing);

// After how many ticks `rank` has the result. Of a broadcast, the root has it at once.
Duration result_due(const topology::RangeForest& forest, std::int32_t rank, const Timing& timing,
                    bool is_broadcast);

// How long `rank` may take to answer somebody at `distance` levels above or below: there and back,
// and as many of its service intervals as it takes until all who are that far from it have had
// their turns. > 0. REQUIRES: distance >= 1.
Duration patience_with(const topology::RangeForest& forest, std::int32_t rank,
                       std::int32_t distance, const Timing& timing);

}  // namespace resprout::protocols
