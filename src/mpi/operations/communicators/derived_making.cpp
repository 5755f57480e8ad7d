#include "mpi/operations/communicators/derived_making.hpp"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <utility>

#include "mpi/handles/communicators/carrier_pool.hpp"
#include "mpi/handles/communicators/communicator.hpp"
#include "mpi/handles/communicators/derived.hpp"
#include "mpi/handles/communicators/sessions.hpp"
#include "mpi/handles/errors/wrappings.hpp"
#include "mpi/handles/requests/request_record.hpp"
#include "mpi/operations/communicators/roll_call.hpp"
#include "mpi/process/call_policy.hpp"
#include "mpi/process/world.hpp"
#include "runtime/engine.hpp"

namespace resprout::shim {
namespace {

void say_that_none_is_left() {
  std::fprintf(
      stderr,
      "resprout: no communicator can be made: of the %d that can be in use after a loss "
      "all are, or wait for a blocking call to clear them (docs/reference/after-a-loss.md)\n",
      carriers_max);
}

}  // namespace

int make_derived(std::vector<int> world_ranks, RollCall& roll, std::uint64_t name, MPI_Comm like,
                 MPI_Comm* made, runtime::Lock& lock) {
  const World& world = *World::current();
  *made = MPI_COMM_NULL;
  if (roll.pool_index() < 0) {
    call_policy().on_failure("what makes a communicator",
                             "finds none left for a plane that has lost a rank");
    if (world.rank() == world_ranks.front()) say_that_none_is_left();
    return MPI_ERR_OTHER;
  }
  const int pool_index = roll.take_carrier();
  const MPI_Comm handle = handle_of(pool_index);
  copy_error_handler(like, handle);
  DerivedCommunicator derived{pool_index, carrier(pool_index), {}};
  for (int rank = 0; rank < static_cast<int>(world_ranks.size()); ++rank)
    derived.by_world_rank.emplace_back(world_ranks[static_cast<std::size_t>(rank)], rank);
  std::sort(derived.by_world_rank.begin(), derived.by_world_rank.end());
  auto communicator = std::make_unique<Communicator>();
  communicator->rank = rank_in(derived, world.rank());
  communicator->derived = std::move(derived);
  communicator->agreed = Communicator::Agreed::against_it;
  communicator->world_ranks = std::move(world_ranks);
  describe_communicator(handle, std::move(communicator));
  note_derived(pool_index, handle);
  acknowledge_to_mpi(handle);
  open_communicator(handle, name, lock);
  *made = handle;
  return MPI_SUCCESS;
}

void unmake(MPI_Comm comm, bool is_clean) {
  Communicator& communicator = *communicator_of(comm);
  const bool is_departing = communicator.is_departing;
  const int pool_index = communicator.derived->pool_index;
  const std::vector<int> world_ranks = communicator.world_ranks;
  note_derived(pool_index, MPI_COMM_NULL);
  const bool is_broken = forget_requests_of(comm) != 0;
  undescribe_communicator(comm);
  PMPI_Comm_set_name(comm, "");
  if (is_departing) {
    const runtime::Lock lock = World::current()->engine().lock();
    communicator.is_broken = is_broken;
    communicator.is_lingering = false;
    return;
  }
  leave_carrier(pool_index, world_ranks,
                is_broken  ? Leaving::broken
                : is_clean ? Leaving::clean
                           : Leaving::unclean);
}

}  // namespace resprout::shim
