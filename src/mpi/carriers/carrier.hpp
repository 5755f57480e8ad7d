// Who carries a collective until a loss: the MPI library's own, or trees of ours.
//
// All that the choice rests on is the same at all members of a communicator. What was measured on
// this machine decides where it fits (process/calibration.hpp); elsewhere a rule from measurements
// on others does.
#pragma once

#include <cstddef>

#include "mpi/process/calibration.hpp"

namespace resprout::shim {

// For calls whose ranks do not know of each other how much they give.
inline constexpr std::size_t bytes_unknown = std::size_t{32} << 10;

// As measured on other machines (docs/lab/benchmarks.md).
bool is_native_faster_mostly(const Place& place, Kind kind, std::size_t bytes);

// The same where the members are on several hosts.
bool is_native_faster_between_hosts(const Place& place, Kind kind, std::size_t bytes);

}  // namespace resprout::shim
