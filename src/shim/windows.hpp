// Windows that this process has a part in.
//
// One-sided access needs its target: as long as there are windows somebody may wait, at any moment,
// for the MPI library to make progress here, and MPI does not say who. So whoever waits lets it, in
// every round, and does not sleep.
// Thread rule: from any thread.
#pragma once

#include <mpi.h>

#include <atomic>
#include <vector>

namespace resprout::shim {

namespace detail {
inline std::atomic<int> window_count{0};
}

inline bool has_windows() { return detail::window_count.load(std::memory_order_relaxed) > 0; }
// MPI has made it; it counts until MPI frees it.
void note_window(MPI_Win window);
// The world ranks of those that share it, as far as they are of this world.
std::vector<int> members_of(MPI_Win window);

}  // namespace resprout::shim
