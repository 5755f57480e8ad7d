#include "shim/native/natives.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>

#include "shim/native/progress_hook.hpp"
#include "shim/ulfm.hpp"
#include "shim/world.hpp"

namespace resprout::shim {
namespace {

struct Native {
  MPI_Comm comm;
  std::vector<int> world_ranks;
  bool is_revoked = false;
};

struct Natives {
  std::mutex mutex;                       // guards what follows
  std::vector<Native> open;               // the first is the world's
  std::atomic<int> looked_at_losses = 0;  // how many were known when the hook last looked
};

Natives& natives() {
  static Natives instance;
  return instance;
}

bool has_lost_member(const World& world, const Native& native) {
  return std::any_of(native.world_ranks.begin(), native.world_ranks.end(),
                     [&](int rank) { return world.is_lost(rank); });
}

// Marks those that `is_meant`, and gives back which they are: revoking makes progress in MPI, and
// so may come back to the hook.
template <typename Predicate>
std::vector<MPI_Comm> mark_revoked(Predicate is_meant) {
  std::vector<MPI_Comm> marked;
  const std::lock_guard guard(natives().mutex);
  for (Native& native : natives().open) {
    if (native.is_revoked || !is_meant(native)) continue;
    native.is_revoked = true;
    marked.push_back(native.comm);
  }
  return marked;
}

// In the library's progress, on a thread that is blocked in it.
int look() {
  const World* world = World::current();
  if (world == nullptr) return 0;
  const int losses = world->lost_count();
  if (losses == natives().looked_at_losses.load(std::memory_order_relaxed)) return 0;
  natives().looked_at_losses.store(losses);
  for (const MPI_Comm comm :
       mark_revoked([&](const Native& native) { return has_lost_member(*world, native); }))
    ulfm::revoke(comm);
  return 0;
}

void add(MPI_Comm comm, std::vector<int> world_ranks) {
  PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  const std::lock_guard guard(natives().mutex);
  natives().open.push_back({comm, std::move(world_ranks)});
}

MPI_Comm natives_of_world() {
  const std::lock_guard guard(natives().mutex);
  const auto& open = natives().open;
  return open.empty() || open.front().is_revoked ? MPI_COMM_NULL : open.front().comm;
}

}  // namespace

void open_natives() {
  if (!ulfm::is_active()) return;
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Comm made = MPI_COMM_NULL;
  PMPI_Comm_group(MPI_COMM_WORLD, &group);
  PMPI_Comm_create(MPI_COMM_WORLD, group, &made);
  int size = 0;
  PMPI_Group_size(group, &size);
  PMPI_Group_free(&group);
  if (made == MPI_COMM_NULL) return;
  std::vector<int> everybody(static_cast<std::size_t>(size));
  for (int rank = 0; rank < size; ++rank) everybody[static_cast<std::size_t>(rank)] = rank;
  add(made, std::move(everybody));
  add_progress_hook(look);
}

void close_natives() {
  const std::lock_guard guard(natives().mutex);
  if (natives().open.empty()) return;
  remove_progress_hook(look);
  natives().open.clear();
}

MPI_Comm make_native(const std::vector<int>& world_ranks, int tag) {
  const MPI_Comm world = natives_of_world();
  if (world == MPI_COMM_NULL || World::current()->lost_count() != 0) return MPI_COMM_NULL;
  MPI_Group everybody = MPI_GROUP_NULL;
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Comm made = MPI_COMM_NULL;
  PMPI_Comm_group(world, &everybody);
  PMPI_Group_incl(everybody, static_cast<int>(world_ranks.size()), world_ranks.data(), &group);
  const int code = PMPI_Comm_create_group(world, group, tag, &made);
  PMPI_Group_free(&group);
  PMPI_Group_free(&everybody);
  if (code != MPI_SUCCESS || made == MPI_COMM_NULL) return MPI_COMM_NULL;
  add(made, world_ranks);
  return made;
}

void free_native(MPI_Comm native) {
  {
    const std::lock_guard guard(natives().mutex);
    auto& open = natives().open;
    const auto at =
        std::find_if(open.begin(), open.end(), [&](const Native& it) { return it.comm == native; });
    if (at == open.end()) return;
    const bool is_revoked = at->is_revoked;
    open.erase(at);
    if (is_revoked) return;  // freeing it would need those who are lost
  }
  PMPI_Comm_free(&native);
}

void revoke_native(MPI_Comm native) {
  for (const MPI_Comm comm : mark_revoked([&](const Native& it) { return it.comm == native; }))
    ulfm::revoke(comm);
}

}  // namespace resprout::shim
