// Windows that this process has a part in.
//
// One-sided access needs its target: as long as there are windows somebody may wait, at any moment,
// for the MPI library to make progress here, and MPI does not say who. So whoever waits lets it, in
// every round, and does not sleep.
// Thread rule: from any thread.
#pragma once

#include <mpi.h>

#include <atomic>
#include <memory>
#include <vector>

namespace resprout::shim {

class FencedWindow;

namespace detail {
inline std::atomic<int> window_count{0};
}

inline bool has_windows() { return detail::window_count.load(std::memory_order_relaxed) > 0; }
// MPI has made it; it counts until MPI frees it. Its fences are the library's, or `fenced`'s.
void note_window(MPI_Win window);
void note_window(MPI_Win window, std::unique_ptr<FencedWindow> fenced);
// The world ranks of those that share it, as far as they are of this world.
std::vector<int> members_of(MPI_Win window);
// Null: its fences are the library's, or it is no window. Lives until MPI frees the window.
FencedWindow* fenced_window(MPI_Win window);
// The program has begun so many more epochs of locks than it has ended hereby.
void note_locks(MPI_Win window, int more);
// Some are open: others need not take part in an access.
bool is_locked(MPI_Win window);

}  // namespace resprout::shim
