// What a process does when it learns of the first loss: it goes on without the lost, or ends.
//
// It ends in a plane of replicas, whose siblings go on, unless they stand in for the lost; and in a
// job that the launcher starts again (RESPROUT_ON_LOSS=restart). Nothing has to outlive a loss
// there. Thread rule: none.
#pragma once

#include "mpi/process/options.hpp"

namespace resprout::shim {

// The job then begins anew. It is not replicated.
inline bool is_started_again(const Options& options) { return options.on_loss == OnLoss::restart; }

inline bool ends_with_first_loss(const Options& options) {
  return is_started_again(options) || (options.is_replicated() && !options.stands_in());
}

// A process that outlives a loss does so without replicas of the lost.
inline bool goes_on_without(const Options& options) {
  return !options.is_replicated() && !is_started_again(options);
}

inline bool leaves_collectives_to_library(const Options& options) {
  const bool may_leave = !are_own(options.collectives) && options.sum != Sum::reproducible;
  return options.leaves_collectives_to_mpi() || (is_started_again(options) && may_leave);
}

}  // namespace resprout::shim
