// Faults on purpose, for tests and demonstrations: this process kills, stops or ends itself, or has
// a wrong bit somewhere in its memory (process_memory.hpp); what corrupts its messages is in
// flips.hpp.
//
// Timed faults come from a thread of their own, counted ones from the wrappers, which say the name
// of each call when they are entered. Just before it fires, a fault leaves a note "injected" in
// the run directory: {"fault": "kill:rank=3,at=2s", "fired_ns": ...} (CLOCK_REALTIME).
//
// Thread rule: `arm_faults` once; all others from any thread.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "mpi/process/options.hpp"

namespace resprout::shim {

// From here on the faults of `options` that are for world rank `rank` will happen; times count from
// now.
void arm_faults(const Options& options, int rank);
// The texts of those that have not happened, corruption too.
std::vector<std::string> faults_left();

namespace detail {
extern std::atomic<bool> counts_calls;
void count_entry(const char* call);
}  // namespace detail

// Every wrapper says so first. `call`: the lower-case MPI name ("allreduce", "send").
inline void entering(const char* call) {
  if (detail::counts_calls.load(std::memory_order_relaxed)) [[unlikely]]
    detail::count_entry(call);
}

}  // namespace resprout::shim
