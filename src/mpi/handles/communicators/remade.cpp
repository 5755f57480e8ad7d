#include "mpi/handles/communicators/remade.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <numeric>
#include <utility>

#include "mpi/handles/communicators/communicator.hpp"
#include "mpi/handles/communicators/spares.hpp"
#include "mpi/process/world.hpp"
#include "openmpi/ulfm.hpp"

namespace resprout::shim {
namespace {

// A rank that no communicator has: MPI is to say what it says of such.
constexpr int no_such_rank = 1 << 30;

std::atomic<int> count{0};

// The handles of the program, by spare.
struct Handles {
  std::mutex mutex;
  std::array<MPI_Comm, spares_max> by_spare;
  Handles() { by_spare.fill(MPI_COMM_NULL); }
};

Handles& handles() {
  static Handles instance;
  return instance;
}

const Remade* remade_of(MPI_Comm comm) {
  if (!is_any_remade() || comm == MPI_COMM_NULL || World::current() == nullptr) return nullptr;
  const auto& remade = communicator_of(comm)->remade;
  return remade ? &*remade : nullptr;
}

}  // namespace

int rank_in(const Remade& remade, int world_rank) {
  const auto it = std::lower_bound(remade.by_world_rank.begin(), remade.by_world_rank.end(),
                                   std::pair(world_rank, 0));
  return it != remade.by_world_rank.end() && it->first == world_rank ? it->second : -1;
}

bool is_any_remade() { return count.load(std::memory_order_relaxed) != 0; }

bool is_remade(MPI_Comm comm) { return remade_of(comm) != nullptr; }

Address address_of(MPI_Comm comm, int peer) {
  const Remade* remade = remade_of(comm);
  if (remade == nullptr) return {comm, peer};
  const std::vector<int>& world_ranks = communicator_of(comm)->world_ranks;
  if (peer >= static_cast<int>(world_ranks.size())) return {remade->carrier, no_such_rank};
  return {remade->carrier, peer < 0 ? peer : world_ranks[static_cast<std::size_t>(peer)]};
}

void name_source(MPI_Comm comm, MPI_Status* status) {
  if (status == MPI_STATUS_IGNORE || status->MPI_SOURCE < 0) return;
  if (const Remade* remade = remade_of(comm))
    status->MPI_SOURCE = rank_in(*remade, status->MPI_SOURCE);
}

MPI_Comm carried_by(MPI_Comm carrier) {
  if (!is_any_remade()) return carrier;
  const std::lock_guard guard(handles().mutex);
  for (const MPI_Comm comm : handles().by_spare)
    if (comm != MPI_COMM_NULL && communicator_of(comm)->remade->carrier == carrier) return comm;
  return carrier;
}

std::vector<int> failed_by_mpi(MPI_Comm comm) {
  const Remade* remade = remade_of(comm);
  if (remade == nullptr) return ulfm::failed_ranks(comm);
  std::vector<int> ranks;
  for (const int world_rank : ulfm::failed_ranks(remade->carrier))
    if (const int rank = rank_in(*remade, world_rank); rank >= 0) ranks.push_back(rank);
  return ranks;
}

void acknowledge_to_mpi(MPI_Comm comm) { ulfm::acknowledge(address_of(comm, 0).comm); }

int group_of(MPI_Comm comm, MPI_Group* group) {
  const Remade* remade = remade_of(comm);
  if (remade == nullptr) return PMPI_Comm_group(comm, group);
  const std::vector<int>& ranks = communicator_of(comm)->world_ranks;
  MPI_Group world = MPI_GROUP_NULL;
  PMPI_Comm_group(remade->carrier, &world);
  const int code = PMPI_Group_incl(world, static_cast<int>(ranks.size()), ranks.data(), group);
  PMPI_Group_free(&world);
  return code;
}

std::vector<int> ranks_of_group(MPI_Comm comm, MPI_Group group) {
  int size = 0;
  PMPI_Group_size(group, &size);
  std::vector<int> numbers(static_cast<std::size_t>(size));
  std::vector<int> ranks(numbers.size());
  std::iota(numbers.begin(), numbers.end(), 0);
  MPI_Group everybody = MPI_GROUP_NULL;
  group_of(comm, &everybody);
  PMPI_Group_translate_ranks(group, size, numbers.data(), everybody, ranks.data());
  PMPI_Group_free(&everybody);
  return ranks;
}

void note_remade(int spare, MPI_Comm comm) {
  {
    const std::lock_guard guard(handles().mutex);
    handles().by_spare[static_cast<std::size_t>(spare)] = comm;
  }
  count.fetch_add(comm != MPI_COMM_NULL ? 1 : -1);
}

}  // namespace resprout::shim
