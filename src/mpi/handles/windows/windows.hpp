// What is known of the windows that this process has a part in.
//
// Thread rule: from any thread.
#pragma once

#include <mpi.h>

#include <memory>
#include <vector>

namespace resprout::shim {

class FencedWindow;

// MPI has made it; it counts until MPI frees it. Its fences are the library's, or `fenced`'s.
void note_window(MPI_Win window);
void note_window(MPI_Win window, std::shared_ptr<FencedWindow> fenced);
// It counts no more, though MPI has it still.
void forget_window(MPI_Win window);
// The world ranks of those that share it, as far as they are of this world.
std::vector<int> members_of(MPI_Win window);
// Null: its fences are the library's, or it is no window. Lives until MPI frees the window.
FencedWindow* fenced_window(MPI_Win window);
// The program has begun so many more epochs of locks than it has ended hereby.
void note_locks(MPI_Win window, int more);
// Some are open: others need not take part in an access.
bool is_locked(MPI_Win window);

}  // namespace resprout::shim
