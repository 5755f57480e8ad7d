#include "mpi/handles/communicators/remade.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <memory>
#include <mutex>
#include <numeric>
#include <utility>

#include "mpi/handles/communicators/attributes.hpp"
#include "mpi/handles/communicators/communicator.hpp"
#include "mpi/handles/communicators/spares.hpp"
#include "mpi/handles/errors/errors.hpp"
#include "mpi/handles/requests/pending.hpp"
#include "mpi/operations/communicators/roll_call.hpp"
#include "mpi/policies/replicas/masking.hpp"
#include "mpi/process/world.hpp"
#include "openmpi/ulfm.hpp"
#include "runtime/engine.hpp"

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

void note_handle(int spare, MPI_Comm comm) {
  const std::lock_guard guard(handles().mutex);
  handles().by_spare[static_cast<std::size_t>(spare)] = comm;
}

const Remade* remade_of(MPI_Comm comm) {
  if (!is_any_remade() || comm == MPI_COMM_NULL || World::current() == nullptr) return nullptr;
  const auto& remade = communicator_of(comm)->remade;
  return remade ? &*remade : nullptr;
}

// -1: not a member.
int rank_of(const Remade& remade, int world_rank) {
  const auto it = std::lower_bound(remade.by_world_rank.begin(), remade.by_world_rank.end(),
                                   std::pair(world_rank, 0));
  return it != remade.by_world_rank.end() && it->first == world_rank ? it->second : -1;
}

void say_that_none_is_left() {
  std::fprintf(stderr,
               "resprout: no communicator can be made: of the %d that can be in use after a loss "
               "all are, or wait for a blocking call to clear them (docs/how-to/run.md)\n",
               spares_max);
}

}  // namespace

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
    status->MPI_SOURCE = rank_of(*remade, status->MPI_SOURCE);
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
    if (const int rank = rank_of(*remade, world_rank); rank >= 0) ranks.push_back(rank);
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

int remake(std::vector<int> world_ranks, RollCall& roll, std::uint64_t name, MPI_Comm like,
           MPI_Comm* made, runtime::Lock& lock) {
  const World& world = *World::current();
  *made = MPI_COMM_NULL;
  if (roll.spare() < 0) {
    end_if_masking("what makes a communicator", "finds none left for a plane that has lost a rank");
    if (world.rank() == world_ranks.front()) say_that_none_is_left();
    return MPI_ERR_OTHER;
  }
  const int spare = roll.take_spare();
  const MPI_Comm handle = handle_of(spare);
  copy_error_handler(like, handle);
  Remade remade{spare, carrier(spare), {}};
  for (int rank = 0; rank < static_cast<int>(world_ranks.size()); ++rank)
    remade.by_world_rank.emplace_back(world_ranks[static_cast<std::size_t>(rank)], rank);
  std::sort(remade.by_world_rank.begin(), remade.by_world_rank.end());
  auto communicator = std::make_unique<Communicator>();
  communicator->rank = rank_of(remade, world.rank());
  communicator->remade = std::move(remade);
  communicator->agreed = Communicator::Agreed::against_it;
  communicator->world_ranks = std::move(world_ranks);
  describe_communicator(handle, std::move(communicator));
  note_handle(spare, handle);
  count.fetch_add(1);
  acknowledge_to_mpi(handle);
  open_communicator(handle, name, lock);
  *made = handle;
  return MPI_SUCCESS;
}

void unmake(MPI_Comm comm, bool is_clean) {
  Communicator& communicator = *communicator_of(comm);
  const bool is_departing = communicator.is_departing;
  const int spare = communicator.remade->spare;
  const std::vector<int> world_ranks = communicator.world_ranks;
  note_handle(spare, MPI_COMM_NULL);
  const bool is_broken = forget_requests_of(comm) != 0;
  undescribe_communicator(comm);
  PMPI_Comm_set_name(comm, "");
  count.fetch_sub(1);
  if (is_departing) {
    const runtime::Lock lock = World::current()->engine().lock();
    communicator.is_broken = is_broken;
    communicator.is_lingering = false;
    return;
  }
  leave_spare(spare, world_ranks,
              is_broken  ? Leaving::broken
              : is_clean ? Leaving::clean
                         : Leaving::unclean);
}

}  // namespace resprout::shim
