#include "mpi/handles/communicators/both_groups.hpp"

#include "mpi/handles/communicators/communicator.hpp"
#include "mpi/handles/communicators/revocations.hpp"
#include "mpi/process/world.hpp"

namespace resprout::shim {

std::vector<int> BothGroups::all() const {
  std::vector<int> ranks = is_own_first() ? own : other;
  const std::vector<int>& second = is_own_first() ? other : own;
  ranks.insert(ranks.end(), second.begin(), second.end());
  return ranks;
}

bool has_both_groups(MPI_Comm comm) {
  if (World::current() == nullptr || comm == MPI_COMM_NULL) return false;
  const Communicator& communicator = *communicator_of(comm);
  return communicator.is_inter && communicator.session != nullptr;
}

BothGroups both_groups_of(MPI_Comm inter) {
  MPI_Group group = MPI_GROUP_NULL;
  PMPI_Comm_group(inter, &group);
  BothGroups groups{world_ranks_of(group), communicator_of(inter)->world_ranks};
  PMPI_Group_free(&group);
  return groups;
}

runtime::Session& session_of_both(MPI_Comm inter) { return *communicator_of(inter)->session; }

void join_both_groups(MPI_Comm inter, runtime::Session& session) {
  communicator_of(inter)->session = &session;
  note_session(inter, session);
}

}  // namespace resprout::shim
