#include "shim/windows.hpp"

#include <memory>

#include "shim/communicator.hpp"
#include "shim/fatal_handlers.hpp"

namespace resprout::shim {
namespace {

using Ranks = std::vector<int>;

// MPI's attributes have no type.
int note_freed_window(MPI_Win, int, void* members, void*) {
  const std::unique_ptr<Ranks> freed(static_cast<Ranks*>(members));
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

Ranks find_members(MPI_Win window) {
  MPI_Group group = MPI_GROUP_NULL;
  PMPI_Win_get_group(window, &group);
  Ranks members = world_ranks_of(group);
  PMPI_Group_free(&group);
  std::erase(members, MPI_UNDEFINED);
  return members;
}

}  // namespace

void note_window(MPI_Win window) {
  replace_fatal_handler(window);
  auto* const members = new Ranks(find_members(window));
  if (PMPI_Win_set_attr(window, window_keyval(), members) == MPI_SUCCESS)
    detail::window_count.fetch_add(1, std::memory_order_relaxed);
  else
    delete members;
}

std::vector<int> members_of(MPI_Win window) {
  void* members = nullptr;
  int is_found = 0;
  PMPI_Win_get_attr(window, window_keyval(), &members, &is_found);
  return is_found != 0 ? *static_cast<Ranks*>(members) : Ranks();
}

}  // namespace resprout::shim
