#include "mpi/handles/communicators/carrier_pool.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <utility>

#include "mpi/handles/communicators/drain.hpp"
#include "mpi/handles/communicators/unwanted.hpp"
#include "mpi/handles/errors/codes.hpp"
#include "mpi/handles/errors/wrappings.hpp"
#include "mpi/process/patience.hpp"
#include "mpi/process/world.hpp"
#include "openmpi/ulfm.hpp"
#include "runtime/mutex.hpp"

namespace resprout::shim {
namespace {

struct PooledCarrier {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm handle = MPI_COMM_NULL;
  bool is_in_use = true;
  bool is_broken = false;    // what MPI was asked for a drain is still pending
  std::vector<int> left_by;  // world ranks, ascending: whose messages may be left in it
};

struct CarrierPool {
  runtime::Mutex mutex;  // guards all of them, but for the communicators, which MPI_Init makes
  std::array<PooledCarrier, carriers_max> all;

  PooledCarrier& operator[](int number) { return all[static_cast<std::size_t>(number)]; }
};

// Never destroyed: MPI_Finalize may come after all exit handlers.
CarrierPool& carrier_pool() {
  static auto* instance = new CarrierPool;
  return *instance;
}

std::atomic<bool> is_making_broken = false;

// Who is not in the session, and lives, may still send something.
bool may_be_drained_by(const runtime::Session& session, const PooledCarrier& pooled) {
  return std::all_of(pooled.left_by.begin(), pooled.left_by.end(), [&](int rank) {
    return session.everybody().index_of_world_rank(rank) != no_rank ||
           World::current()->is_lost(rank);
  });
}

// All at the same time, yielding meanwhile: MPICH and Intel MPI do not, where one waits for each.
void duplicate_world() {
  std::array<MPI_Request, carriers_max> requests;
  for (int i = 0; i < carriers_max; ++i)
    PMPI_Comm_idup(MPI_COMM_WORLD, &carrier_pool()[i].comm, &requests[static_cast<std::size_t>(i)]);
  Patience patience;
  for (int is_done = 0; is_done == 0; patience.pause())
    PMPI_Testall(carriers_max, requests.data(), &is_done, MPI_STATUSES_IGNORE);
}

}  // namespace

void open_carrier_pool() {
  if (!ulfm::outlives_losses()) return;  // nobody survives a loss
  if (!ulfm::is_active()) duplicate_world();
  for (PooledCarrier& pooled : carrier_pool().all) {
    if (ulfm::is_active()) PMPI_Comm_dup(MPI_COMM_WORLD, &pooled.comm);
    hand_on_errors(pooled.comm);
    PMPI_Comm_dup(MPI_COMM_SELF, &pooled.handle);
    pooled.is_in_use = false;
  }
}

void close_carrier_pool() {
  const runtime::MutexLock guard(carrier_pool().mutex);
  for (PooledCarrier& pooled : carrier_pool().all) pooled.is_in_use = true;
}

MPI_Comm carrier(int pool_index) { return carrier_pool()[pool_index].comm; }

MPI_Comm handle_of(int pool_index) { return carrier_pool()[pool_index].handle; }

bool has_met_loss(int code) {
  return is_loss(code) || code == MPI_ERR_INTERN ||
         (code != MPI_SUCCESS && World::current()->lost_count() != 0);
}

void note_broken_making() { is_making_broken = true; }

bool may_mpi_make_any() { return !is_making_broken && World::current()->lost_count() == 0; }

CarrierWords carriers_for(const runtime::Session& session) {
  const runtime::MutexLock guard(carrier_pool().mutex);
  CarrierWords words;
  for (int i = 0; i < carriers_max; ++i) {
    const std::uint64_t bit = std::uint64_t{1} << i;
    const PooledCarrier& pooled = carrier_pool()[i];
    if (pooled.is_in_use || !may_be_drained_by(session, pooled)) words.unusable |= bit;
    if (!pooled.left_by.empty()) words.unclean |= bit;
  }
  return words;
}

int choose_carrier(const CarrierWords& all) {
  const int clean = std::countr_one(all.unusable | all.unclean);
  if (clean < carriers_max) return clean;
  const int usable = std::countr_one(all.unusable);
  return usable < carriers_max ? usable : -1;
}

// Whoever had it before has left it, or is lost: nobody waits for what is thrown away.
bool reserve_carrier(int pool_index) {
  const runtime::MutexLock guard(carrier_pool().mutex);
  stop_throwing_away(carrier_pool()[pool_index].comm);
  return !std::exchange(carrier_pool()[pool_index].is_in_use, true);
}

void give_back_carrier(int pool_index) {
  const runtime::MutexLock guard(carrier_pool().mutex);
  if (!carrier_pool()[pool_index].is_broken) carrier_pool()[pool_index].is_in_use = false;
}

void leave_carrier(int number, const std::vector<int>& world_ranks, Leaving how) {
  const runtime::MutexLock guard(carrier_pool().mutex);
  PooledCarrier& pooled = carrier_pool()[number];
  if (how == Leaving::broken) pooled.is_broken = true;
  if (!pooled.is_broken) pooled.is_in_use = false;
  if (how != Leaving::clean) throw_away(pooled.comm);
  if (how != Leaving::unclean) return;
  pooled.left_by.insert(pooled.left_by.end(), world_ranks.begin(), world_ranks.end());
  std::sort(pooled.left_by.begin(), pooled.left_by.end());
  pooled.left_by.erase(std::unique(pooled.left_by.begin(), pooled.left_by.end()),
                       pooled.left_by.end());
}

void note_drained(int number, bool is_clean) {
  const runtime::MutexLock guard(carrier_pool().mutex);
  if (is_clean)
    carrier_pool()[number].left_by.clear();
  else
    carrier_pool()[number].is_broken = true;
}

bool drain(int number, const runtime::Session& session) {
  const bool is_clean = Drain(carrier(number), session).run();
  note_drained(number, is_clean);
  return is_clean;
}

}  // namespace resprout::shim
