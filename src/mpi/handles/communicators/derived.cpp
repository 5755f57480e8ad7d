#include "mpi/handles/communicators/derived.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <numeric>
#include <utility>

#include "mpi/handles/communicators/carrier_pool.hpp"
#include "mpi/handles/communicators/communicator.hpp"
#include "mpi/process/world.hpp"
#include "openmpi/ulfm.hpp"
#include "runtime/mutex.hpp"

namespace resprout::shim {
namespace {

// A rank that no communicator has: MPI is to say what it says of such.
constexpr int no_such_rank = 1 << 30;

std::atomic<int> count{0};

// The handles of the program, by pool index.
struct Handles {
  runtime::Mutex mutex;
  std::array<MPI_Comm, carriers_max> by_pool_index RESPROUT_GUARDED_BY(mutex);
  Handles() { by_pool_index.fill(MPI_COMM_NULL); }
};

Handles& handles() {
  static Handles instance;
  return instance;
}

const DerivedCommunicator* derived_of(MPI_Comm comm) {
  if (!is_any_derived() || comm == MPI_COMM_NULL || World::current() == nullptr) return nullptr;
  const auto& derived = communicator_of(comm)->derived;
  return derived ? &*derived : nullptr;
}

}  // namespace

int rank_in(const DerivedCommunicator& derived, int world_rank) {
  const auto it = std::lower_bound(derived.by_world_rank.begin(), derived.by_world_rank.end(),
                                   std::pair(world_rank, 0));
  return it != derived.by_world_rank.end() && it->first == world_rank ? it->second : -1;
}

bool is_any_derived() { return count.load(std::memory_order_relaxed) != 0; }

bool is_derived(MPI_Comm comm) { return derived_of(comm) != nullptr; }

Address address_of(MPI_Comm comm, int peer) {
  const DerivedCommunicator* derived = derived_of(comm);
  if (derived == nullptr) return {comm, peer};
  const std::vector<int>& world_ranks = communicator_of(comm)->world_ranks;
  if (peer >= static_cast<int>(world_ranks.size())) return {derived->carrier, no_such_rank};
  return {derived->carrier, peer < 0 ? peer : world_ranks[static_cast<std::size_t>(peer)]};
}

void name_source(MPI_Comm comm, MPI_Status* status) {
  if (status == MPI_STATUS_IGNORE || status->MPI_SOURCE < 0) return;
  if (const DerivedCommunicator* derived = derived_of(comm))
    status->MPI_SOURCE = rank_in(*derived, status->MPI_SOURCE);
}

MPI_Comm carried_by(MPI_Comm carrier) {
  if (!is_any_derived()) return carrier;
  const runtime::MutexLock guard(handles().mutex);
  for (const MPI_Comm comm : handles().by_pool_index)
    if (comm != MPI_COMM_NULL && communicator_of(comm)->derived->carrier == carrier) return comm;
  return carrier;
}

std::vector<int> failed_by_mpi(MPI_Comm comm) {
  const DerivedCommunicator* derived = derived_of(comm);
  if (derived == nullptr) return ulfm::failed_ranks(comm);
  std::vector<int> ranks;
  for (const int world_rank : ulfm::failed_ranks(derived->carrier))
    if (const int rank = rank_in(*derived, world_rank); rank >= 0) ranks.push_back(rank);
  return ranks;
}

void acknowledge_to_mpi(MPI_Comm comm) { ulfm::acknowledge(address_of(comm, 0).comm); }

int group_of(MPI_Comm comm, MPI_Group* group) {
  const DerivedCommunicator* derived = derived_of(comm);
  if (derived == nullptr) return PMPI_Comm_group(comm, group);
  const std::vector<int>& ranks = communicator_of(comm)->world_ranks;
  MPI_Group world = MPI_GROUP_NULL;
  PMPI_Comm_group(derived->carrier, &world);
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

void note_derived(int pool_index, MPI_Comm comm) {
  {
    const runtime::MutexLock guard(handles().mutex);
    handles().by_pool_index[static_cast<std::size_t>(pool_index)] = comm;
  }
  count.fetch_add(comm != MPI_COMM_NULL ? 1 : -1);
}

}  // namespace resprout::shim
