// Communicators of groups: only the members of the group take part (group_making.hpp). What makes
// one of a communicator's ends when that is revoked.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "mpi/carriers/call.hpp"
#include "mpi/handles/communicators/common_name.hpp"
#include "mpi/handles/communicators/communicator.hpp"
#include "mpi/handles/communicators/communicator_name.hpp"
#include "mpi/handles/communicators/derived.hpp"
#include "mpi/handles/communicators/revocations.hpp"
#include "mpi/handles/communicators/sessions.hpp"
#include "mpi/handles/error_handlers/errors.hpp"
#include "mpi/handles/errors/codes.hpp"
#include "mpi/handles/mpich/breaking_off.hpp"
#include "mpi/handles/openmpi/creation_communicator.hpp"
#include "mpi/operations/communicators/group_making.hpp"
#include "mpi/policies/inject/inject.hpp"
#include "mpi/policies/replicas/decided.hpp"
#include "mpi/process/call_policy.hpp"
#include "mpi/process/first_loss.hpp"
#include "mpi/process/report/report.hpp"
#include "mpi/process/world.hpp"
#include "openmpi/ulfm.hpp"
#include "runtime/engine.hpp"

using namespace resprout;
using namespace resprout::shim;

namespace {

constexpr const char* call_name = "comm_create_group";

// World ranks of the group's members; empty if some are none of `comm`.
std::vector<int> world_ranks_in(MPI_Comm comm, MPI_Group group) {
  std::vector<int> ranks = ranks_of_group(comm, group);
  const std::vector<int>& world_ranks = communicator_of(comm)->world_ranks;
  for (int& rank : ranks) {
    if (rank == MPI_UNDEFINED) return {};
    rank = world_ranks[static_cast<std::size_t>(rank)];
  }
  return ranks;
}

int create(MPI_Comm comm, MPI_Group group, int tag, const std::vector<int>& world_ranks,
           MPI_Comm* made) {
  runtime::Lock lock = World::current()->engine().lock();
  Communicator& parent = *communicator_of(comm);
  const std::uint64_t number = ++parent.groups_made[{tag, world_ranks}];
  runtime::Session& session = *session_of(comm, lock);
  lock.unlock();
  GroupMaking making;
  making.world_ranks = world_ranks;
  making.key =
      session.child(~((std::uint64_t{1} << 40) * number + static_cast<std::uint32_t>(tag)));
  making.parent = &session;
  making.is_known_to_mpi = !parent.derived;
  making.like = comm;
  making.native = [&](MPI_Comm* it) {
    return create_in_creation_communicator(comm, group, making.key, it);
  };
  const int code = make_of_group(making, made);
  if (code == MPI_SUCCESS && call_policy().stands_in())
    name_group(comm, *made, tag, world_ranks, number);
  return code;
}

}  // namespace

extern "C" int MPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm* newcomm) {
  const auto native = [&] {
    const int code = PMPI_Comm_create_group(comm, group, tag, newcomm);
    return code == MPI_SUCCESS ? finish(comm, call_name, open_by_common_name(*newcomm)) : code;
  };
  if (World::current() == nullptr || comm == MPI_COMM_NULL || group == MPI_GROUP_NULL || tag < 0)
    return native();
  if (!ulfm::outlives_losses() || communicator_of(comm)->is_native) return native();
  const std::vector<int> world_ranks = world_ranks_in(comm, group);
  const int self = World::current()->rank();
  if (std::find(world_ranks.begin(), world_ranks.end(), self) == world_ranks.end()) return native();
  pass_on_revocations();
  entering(call_name);
  settle_decisions();
  World::current()->report().count_call(call_name);
  *newcomm = MPI_COMM_NULL;
  if (is_revoked(comm)) return finish(comm, call_name, ulfm::revoked_class());
  return finish(comm, call_name, create(comm, group, tag, world_ranks, newcomm));
}

// Open MPI 4.1 has no sessions.
#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)

namespace {

// Losses are borne, and Resprout knows all of them, of whom this process is one.
bool has_members_to_ask(const std::vector<int>& world_ranks) {
  const World& world = *World::current();
  if (!ulfm::outlives_losses() || !goes_on_without(world.options())) return false;
  if (leaves_collectives_to_library(world.options()) || world_ranks.size() < 2) return false;
  return std::ranges::count(world_ranks, MPI_UNDEFINED) == 0 &&
         std::ranges::count(world_ranks, world.rank()) == 1;
}

}  // namespace

// It inherits no error handler, and so none that looks at losses.
extern "C" int MPI_Comm_create_from_group(MPI_Group group, const char* stringtag, MPI_Info info,
                                          MPI_Errhandler errhandler, MPI_Comm* newcomm) {
  constexpr const char* name = "comm_create_from_group";
  World* world = World::current();
  if (world != nullptr) count_call(*world, name);
  const TaggedMaking making(group, stringtag);
  const auto native = [&](MPI_Errhandler handler, MPI_Comm* made) {
    return unless_lost(
        [&] { return PMPI_Comm_create_from_group(group, stringtag, info, handler, made); });
  };
  if (making.name() && has_members_to_ask(world_ranks_of(group))) {
    GroupMaking of_group;
    of_group.world_ranks = world_ranks_of(group);
    of_group.key = *making.name();
    of_group.like = MPI_COMM_SELF;
    of_group.native = [&](MPI_Comm* made) { return native(MPI_ERRORS_RETURN, made); };
    const int code = make_of_group(of_group, newcomm);
    if (code == MPI_SUCCESS) MPI_Comm_set_errhandler(*newcomm, errhandler);
    return finish(MPI_COMM_SELF, name, code);
  }
  const int code = native(errhandler, newcomm);
  if (code != MPI_SUCCESS || world == nullptr || *newcomm == MPI_COMM_NULL) return code;
  MPI_Comm_set_errhandler(*newcomm, errhandler);
  making.open(*newcomm);
  return code;
}

#endif
