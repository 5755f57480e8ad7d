#include "mpi/handles/windows/windows.hpp"

#include <atomic>
#include <utility>

#include "mpi/handles/communicators/communicator.hpp"
#include "mpi/handles/error_handlers/fatal_handlers.hpp"
#include "mpi/process/open_windows.hpp"

namespace resprout::shim {
namespace {

// What hangs on a window as an attribute.
struct Noted {
  std::vector<int> members;
  std::shared_ptr<FencedWindow> fenced;
  std::atomic<int> locks{0};
};

// MPI's attributes have no type.
int note_freed_window(MPI_Win, int, void* noted, void*) {
  const std::unique_ptr<Noted> freed(static_cast<Noted*>(noted));
  note_windows(-1);
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

Noted* noted_of(MPI_Win window) {
  void* noted = nullptr;
  int is_found = 0;
  PMPI_Win_get_attr(window, window_keyval(), &noted, &is_found);
  return is_found != 0 ? static_cast<Noted*>(noted) : nullptr;
}

std::vector<int> find_members(MPI_Win window) {
  MPI_Group group = MPI_GROUP_NULL;
  PMPI_Win_get_group(window, &group);
  std::vector<int> members = world_ranks_of(group);
  PMPI_Group_free(&group);
  std::erase(members, MPI_UNDEFINED);
  return members;
}

}  // namespace

void note_window(MPI_Win window, std::shared_ptr<FencedWindow> fenced) {
  replace_fatal_handler(window);
  auto* const noted = new Noted{find_members(window), std::move(fenced)};
  if (PMPI_Win_set_attr(window, window_keyval(), noted) == MPI_SUCCESS)
    note_windows(1);
  else
    delete noted;
}

void note_window(MPI_Win window) { note_window(window, nullptr); }

void forget_window(MPI_Win window) { PMPI_Win_delete_attr(window, window_keyval()); }

std::vector<int> members_of(MPI_Win window) {
  const Noted* noted = noted_of(window);
  return noted != nullptr ? noted->members : std::vector<int>();
}

FencedWindow* fenced_window(MPI_Win window) {
  if (!has_windows() || window == MPI_WIN_NULL) return nullptr;
  const Noted* noted = noted_of(window);
  return noted != nullptr ? noted->fenced.get() : nullptr;
}

void note_locks(MPI_Win window, int more) {
  if (Noted* noted = has_windows() ? noted_of(window) : nullptr) noted->locks.fetch_add(more);
}

bool is_locked(MPI_Win window) {
  const Noted* noted = has_windows() ? noted_of(window) : nullptr;
  return noted != nullptr && noted->locks.load() > 0;
}

}  // namespace resprout::shim
