#include "mpi/handles/communicators/natives.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

#include "mpi/handles/communicators/communicator.hpp"
#include "mpi/handles/errors/cut_off.hpp"
#include "mpi/process/world.hpp"
#include "openmpi/progress_hook.hpp"
#include "openmpi/ulfm.hpp"
#include "runtime/mutex.hpp"

namespace resprout::shim {
namespace {

struct Native {
  MPI_Comm comm;
  std::vector<int> world_ranks;
  bool is_revoked = false;
};

// Of 65,532 communicators that Open MPI 5.0 can make. Of the others collectives are Resprout's own.
constexpr int natives_max = 256;

struct Natives {
  std::atomic<bool> is_open = false;
  void (*look_around)() = nullptr;
  std::atomic<int> made = 0;  // and not freed
  runtime::Mutex mutex;
  std::vector<Native> open RESPROUT_GUARDED_BY(mutex);  // that are used
  std::atomic<int> looked_at_losses = 0;  // how many were known when the hook last looked
};

// Never destroyed: MPI_Finalize may come after all exit handlers.
Natives& natives() {
  static auto* instance = new Natives;
  return *instance;
}

bool has_lost_member(const World& world, const Native& native) {
  return std::any_of(native.world_ranks.begin(), native.world_ranks.end(),
                     [&](int rank) { return world.is_lost(rank); });
}

// Marks those that have lost a member as revoked, and gives back which they are: revoking makes
// progress in MPI, and so may come back to the hook.
std::vector<MPI_Comm> mark_touched(const World& world) {
  std::vector<MPI_Comm> marked;
  const runtime::MutexLock guard(natives().mutex);
  for (Native& native : natives().open) {
    if (native.is_revoked || !has_lost_member(world, native)) continue;
    native.is_revoked = true;
    marked.push_back(native.comm);
  }
  return marked;
}

// In the library's progress, on a thread that is blocked in it.
int look_at_natives() {
  const World* world = World::current();
  if (world == nullptr) return 0;
  natives().look_around();
  const int losses = world->lost_count();
  if (losses == natives().looked_at_losses.load(std::memory_order_relaxed)) return 0;
  natives().looked_at_losses.store(losses);
  for (const MPI_Comm comm : mark_touched(*world)) revoke_in_mpi(comm);
  return 0;
}

}  // namespace

void open_natives(void (*look_around)()) {
  if (!ulfm::is_active()) return;
  natives().look_around = look_around;
  natives().is_open = true;
  add_progress_hook(look_at_natives, Rounds::some);
}

void close_natives() {
  if (!natives().is_open.exchange(false)) return;
  remove_progress_hook(look_at_natives);
  const runtime::MutexLock guard(natives().mutex);
  natives().open.clear();
}

bool are_natives_open() { return natives().is_open; }
bool may_make_native() { return natives().made.load() < natives_max; }

void add_native(MPI_Comm comm, MPI_Comm made) {
  natives().made.fetch_add(1);
  communicator_of(comm)->native = made;
}

void use_native(MPI_Comm native, const std::vector<int>& world_ranks) {
  const runtime::MutexLock guard(natives().mutex);
  natives().open.push_back({native, world_ranks});
  natives().looked_at_losses.store(0);  // what was known before has to be seen again
}

void leave_native(MPI_Comm native, bool is_clean) {
  {
    const runtime::MutexLock guard(natives().mutex);
    std::erase_if(natives().open, [&](const Native& it) { return it.comm == native; });
  }
  // After a loss freeing it may need those who are lost.
  if (!is_clean || World::current()->lost_count() != 0) return;
  PMPI_Comm_free(&native);
  natives().made.fetch_sub(1);
}

bool revoke_native(MPI_Comm native, void (*revoke)(MPI_Comm)) {
  {
    const runtime::MutexLock guard(natives().mutex);
    std::vector<Native>& open = natives().open;
    const auto it = std::ranges::find(open, native, &Native::comm);
    if (it == open.end() || std::exchange(it->is_revoked, true)) return false;
  }
  revoke(native);
  return true;
}

// After a loss freeing it may need those who are lost.
void leave_neighbors(Communicator& communicator, bool is_clean) {
  if (communicator.neighbors == MPI_COMM_NULL) return;
  if (is_clean && World::current()->lost_count() == 0) PMPI_Comm_free(&communicator.neighbors);
  communicator.neighbors = MPI_COMM_NULL;
}

}  // namespace resprout::shim
