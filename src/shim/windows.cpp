#include "shim/windows.hpp"

#include "shim/fatal_handlers.hpp"

namespace resprout::shim {
namespace {

int note_freed_window(MPI_Win, int, void*, void*) {
  detail::window_count.fetch_sub(1, std::memory_order_relaxed);
  return MPI_SUCCESS;
}

// MPI gives it back at the end.
int window_keyval() {
  static const int key = [] {
    int made = MPI_KEYVAL_INVALID;
    PMPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, note_freed_window, &made, nullptr);
    return made;
  }();
  return key;
}

}  // namespace

void note_window(MPI_Win window) {
  replace_fatal_handler(window);
  if (PMPI_Win_set_attr(window, window_keyval(), nullptr) == MPI_SUCCESS)
    detail::window_count.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace resprout::shim
