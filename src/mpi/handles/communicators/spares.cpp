#include "mpi/handles/communicators/spares.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <mutex>
#include <utility>

#include "mpi/handles/communicators/drain.hpp"
#include "mpi/handles/communicators/unwanted.hpp"
#include "mpi/handles/errors/codes.hpp"
#include "mpi/handles/errors/wrappings.hpp"
#include "mpi/process/patience.hpp"
#include "mpi/process/world.hpp"
#include "openmpi/ulfm.hpp"

namespace resprout::shim {
namespace {

struct Spare {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm handle = MPI_COMM_NULL;
  bool is_in_use = true;
  bool is_broken = false;    // what MPI was asked for a drain is still pending
  std::vector<int> left_by;  // world ranks, ascending: whose messages may be left in it
};

struct Spares {
  std::mutex mutex;
  std::array<Spare, spares_max> all;

  Spare& operator[](int number) { return all[static_cast<std::size_t>(number)]; }
};

// Never destroyed: MPI_Finalize may come after all exit handlers.
Spares& spares() {
  static auto* instance = new Spares;
  return *instance;
}

std::atomic<bool> is_making_broken = false;

// Who is not in the session, and lives, may still send something.
bool may_be_drained_by(const runtime::Session& session, const Spare& spare) {
  return std::all_of(spare.left_by.begin(), spare.left_by.end(), [&](int rank) {
    return session.everybody().index_of_world_rank(rank) != no_rank ||
           World::current()->is_lost(rank);
  });
}

// All at the same time, yielding meanwhile: MPICH and Intel MPI do not, where one waits for each.
void duplicate_world() {
  std::array<MPI_Request, spares_max> requests;
  for (int i = 0; i < spares_max; ++i)
    PMPI_Comm_idup(MPI_COMM_WORLD, &spares()[i].comm, &requests[static_cast<std::size_t>(i)]);
  Patience patience;
  for (int is_done = 0; is_done == 0; patience.pause())
    PMPI_Testall(spares_max, requests.data(), &is_done, MPI_STATUSES_IGNORE);
}

}  // namespace

void open_spares() {
  if (!ulfm::outlives_losses()) return;  // nobody survives a loss
  if (!ulfm::is_active()) duplicate_world();
  for (Spare& spare : spares().all) {
    if (ulfm::is_active()) PMPI_Comm_dup(MPI_COMM_WORLD, &spare.comm);
    hand_on_errors(spare.comm);
    PMPI_Comm_dup(MPI_COMM_SELF, &spare.handle);
    spare.is_in_use = false;
  }
}

void close_spares() {
  const std::lock_guard guard(spares().mutex);
  for (Spare& spare : spares().all) spare.is_in_use = true;
}

MPI_Comm carrier(int spare) { return spares()[spare].comm; }

MPI_Comm handle_of(int spare) { return spares()[spare].handle; }

bool has_met_loss(int code) {
  return is_loss(code) || code == MPI_ERR_INTERN ||
         (code != MPI_SUCCESS && World::current()->lost_count() != 0);
}

void note_broken_making() { is_making_broken = true; }

bool may_mpi_make_any() { return !is_making_broken && World::current()->lost_count() == 0; }

SpareWords spares_for(const runtime::Session& session) {
  const std::lock_guard guard(spares().mutex);
  SpareWords words;
  for (int i = 0; i < spares_max; ++i) {
    const std::uint64_t bit = std::uint64_t{1} << i;
    const Spare& spare = spares()[i];
    if (spare.is_in_use || !may_be_drained_by(session, spare)) words.unusable |= bit;
    if (!spare.left_by.empty()) words.unclean |= bit;
  }
  return words;
}

int choose_spare(const SpareWords& all) {
  const int clean = std::countr_one(all.unusable | all.unclean);
  if (clean < spares_max) return clean;
  const int usable = std::countr_one(all.unusable);
  return usable < spares_max ? usable : -1;
}

// Whoever had it before has left it, or is lost: nobody waits for what is thrown away.
bool reserve_spare(int spare) {
  const std::lock_guard guard(spares().mutex);
  stop_throwing_away(spares()[spare].comm);
  return !std::exchange(spares()[spare].is_in_use, true);
}

void give_back_spare(int spare) {
  const std::lock_guard guard(spares().mutex);
  if (!spares()[spare].is_broken) spares()[spare].is_in_use = false;
}

void leave_spare(int number, const std::vector<int>& world_ranks, Leaving how) {
  const std::lock_guard guard(spares().mutex);
  Spare& spare = spares()[number];
  if (how == Leaving::broken) spare.is_broken = true;
  if (!spare.is_broken) spare.is_in_use = false;
  if (how != Leaving::clean) throw_away(spare.comm);
  if (how != Leaving::unclean) return;
  spare.left_by.insert(spare.left_by.end(), world_ranks.begin(), world_ranks.end());
  std::sort(spare.left_by.begin(), spare.left_by.end());
  spare.left_by.erase(std::unique(spare.left_by.begin(), spare.left_by.end()), spare.left_by.end());
}

void note_drained(int number, bool is_clean) {
  const std::lock_guard guard(spares().mutex);
  if (is_clean)
    spares()[number].left_by.clear();
  else
    spares()[number].is_broken = true;
}

bool drain(int number, const runtime::Session& session) {
  const bool is_clean = Drain(carrier(number), session).run();
  note_drained(number, is_clean);
  return is_clean;
}

}  // namespace resprout::shim
