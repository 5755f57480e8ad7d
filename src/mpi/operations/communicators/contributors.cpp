// resprout_contributors: who is in the last result.
#include "resprout/resprout.h"

#include <numeric>

#include "mpi/carriers/shared_slots/shared_slots.hpp"
#include "mpi/handles/communicators/communicator.hpp"
#include "mpi/handles/communicators/derived.hpp"
#include "mpi/handles/error_handlers/errors.hpp"
#include "mpi/process/first_loss.hpp"
#include "mpi/process/world.hpp"
#include "runtime/engine.hpp"

using namespace resprout;
using namespace resprout::shim;

namespace {

std::vector<int> contributors_of(World& world, MPI_Comm comm) {
  const runtime::Lock lock = world.engine().lock();
  const Communicator* communicator = communicator_of(comm);
  const bool is_native = communicator->is_native || leaves_collectives_to_library(world.options());
  const CommunicatorSlots* shared_slots = communicator->shared_slots.get();
  const bool is_by_shared_slots = shared_slots != nullptr && communicator->last == nullptr;
  if (is_by_shared_slots && shared_slots->last.root >= 0) return {shared_slots->last.root};
  const runtime::Session* last = communicator->last;
  if (last == nullptr) last = communicator->session;
  if (!is_native && !is_by_shared_slots && last != nullptr) return last->contributors().ranks();
  // The MPI library's own collectives contain everybody, or fail; those over shared slots all who
  // have them, but for those whom a gather has missed.
  std::vector<int> everybody;
  if (is_native) everybody.resize(communicator->world_ranks.size());
  std::iota(everybody.begin(), everybody.end(), 0);
  if (is_by_shared_slots)
    for (int i = 0; i < shared_slots->members->size(); ++i)
      if (!shared_slots->missing.in_last[static_cast<std::size_t>(i)])
        everybody.push_back(shared_slots->members->comm_rank(rank_at(i)));
  return everybody;
}

}  // namespace

extern "C" int resprout_contributors(MPI_Comm comm, MPI_Group* group) {
  constexpr const char* name = "resprout_contributors";
  World* world = World::current();
  if (world == nullptr || comm == MPI_COMM_NULL) return finish(MPI_COMM_WORLD, name, MPI_ERR_COMM);
  if (communicator_of(comm)->is_inter) return finish(comm, name, MPI_ERR_COMM);
  if (group == nullptr) return finish(comm, name, MPI_ERR_ARG);
  const std::vector<int> ranks = contributors_of(*world, comm);
  MPI_Group everybody = MPI_GROUP_NULL;
  int code = group_of(comm, &everybody);
  if (code != MPI_SUCCESS) return code;
  code = PMPI_Group_incl(everybody, static_cast<int>(ranks.size()), ranks.data(), group);
  PMPI_Group_free(&everybody);
  return code;
}
