// How many windows this process has a part in.
//
// One-sided access needs its target: as long as there are windows somebody may wait, at any moment,
// for the MPI library to make progress here, and MPI does not say who. So a thread that waits lets
// the library make progress in every round, and does not sleep. Thread rule: from any thread.
#pragma once

#include <atomic>

namespace resprout::shim {

namespace detail {
inline std::atomic<int> window_count{0};
}

inline bool has_windows() { return detail::window_count.load(std::memory_order_relaxed) > 0; }
// `more` windows were opened; negative: closed.
inline void note_windows(int more) {
  detail::window_count.fetch_add(more, std::memory_order_relaxed);
}

}  // namespace resprout::shim
