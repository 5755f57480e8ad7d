#include "mpi/operations/communicators/ulfm/shrink.hpp"

#include <vector>

#include "mpi/handles/communicators/communicator.hpp"
#include "mpi/handles/communicators/derived.hpp"
#include "mpi/handles/communicators/sessions.hpp"
#include "mpi/handles/errors/codes.hpp"
#include "mpi/operations/communicators/derived_making.hpp"
#include "mpi/operations/communicators/roll_call.hpp"
#include "mpi/process/call_policy.hpp"
#include "mpi/process/world.hpp"
#include "openmpi/ulfm.hpp"
#include "runtime/engine.hpp"

namespace resprout::shim {
namespace {

std::vector<int> world_ranks_left(const runtime::Session& session) {
  std::vector<int> ranks;
  for (int i = 0; i < session.members().size(); ++i)
    ranks.push_back(session.members().world_rank(rank_at(i)));
  return ranks;
}

// An MPI without ULFM does not know that it is revoked. It waits for all members.
int make_natively(MPI_Comm comm, const std::vector<int>& left, std::uint64_t name, MPI_Comm* made) {
  if (left.size() < communicator_of(comm)->world_ranks.size()) return proc_failed();
  MPI_Group group = MPI_GROUP_NULL;
  PMPI_Comm_group(comm, &group);
  const int code = PMPI_Comm_create(comm, group, made);
  PMPI_Group_free(&group);
  if (code != MPI_SUCCESS) return code;
  runtime::Lock lock = World::current()->engine().lock();
  open_communicator(*made, name, lock);
  return MPI_SUCCESS;
}

}  // namespace

int shrink(MPI_Comm comm, MPI_Comm* shrunken) {
  call_policy().on_failure("MPIX_Comm_shrink", "would leave out a rank that others stand in for");
  runtime::Lock lock = World::current()->engine().lock();
  runtime::Session& repair = *repair_session_of(comm, lock);
  repair.finish_tasks(lock);
  RollCall roll(repair, 0);
  roll.say(lock);
  roll.find_carrier(lock);
  if (repair.is_revoked()) return ulfm::revoked_class();  // cut off
  const std::uint64_t name = repair.next_child();
  const std::vector<int> left = world_ranks_left(repair);
  if (ulfm::outlives_losses()) return make_derived(left, roll, name, comm, shrunken, lock);
  lock.unlock();
  return make_natively(comm, left, name, shrunken);
}

}  // namespace resprout::shim
