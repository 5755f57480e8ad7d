// MPI_Comm_create_group: only the members of the group take part, so they agree among themselves
// whether the MPI library can make it. That is an operation of a session of its own, which is
// revoked with the communicator's.
#include <algorithm>
#include <cstddef>
#include <vector>

#include "mpi/carriers/anybody.hpp"
#include "mpi/carriers/call.hpp"
#include "mpi/carriers/specs.hpp"
#include "mpi/handles/communicators/common_name.hpp"
#include "mpi/handles/communicators/communicator.hpp"
#include "mpi/handles/communicators/communicator_name.hpp"
#include "mpi/handles/communicators/derived.hpp"
#include "mpi/handles/communicators/revocations.hpp"
#include "mpi/handles/communicators/sessions.hpp"
#include "mpi/handles/error_handlers/errors.hpp"
#include "mpi/handles/errors/codes.hpp"
#include "mpi/handles/errors/quiet.hpp"
#include "mpi/handles/openmpi/creation_communicator.hpp"
#include "mpi/handles/openmpi/making.hpp"
#include "mpi/operations/communicators/derived_making.hpp"
#include "mpi/operations/communicators/roll_call.hpp"
#include "mpi/policies/inject/inject.hpp"
#include "mpi/policies/replicas/decided.hpp"
#include "mpi/process/call_policy.hpp"
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
  runtime::Engine& engine = World::current()->engine();
  runtime::Lock lock = engine.lock();
  Communicator& parent = *communicator_of(comm);
  const std::uint64_t number = ++parent.groups_made[{tag, world_ranks}];
  runtime::Session& of_parent = *session_of(comm, lock);
  const std::uint64_t key =
      of_parent.child(~((std::uint64_t{1} << 40) * number + static_cast<std::uint32_t>(tag)));
  runtime::Session& session = engine.open_session(lock, key, world_ranks);
  of_parent.bind(session);
  RollCall roll(session, 0);
  roll.say(lock);
  const bool is_whole = session.is_whole();
  bool is_for_mpi = !session.is_revoked() && is_whole && roll.is_peaceful() && !parent.derived;
  int code = MPI_SUCCESS;
  std::byte ended{0};  // others may have it nevertheless: then nobody uses it
  if (is_for_mpi) {
    lock.unlock();
    {
      const QuietMaking quiet;
      code = create_in_creation_communicator(comm, group, key, made);
    }
    const std::byte here = end_of_making(code);
    lock.lock();
    ended = what_anybody_says(session, lock, here);
    is_for_mpi = ended == std::byte{0};
    if (ended == making_met_loss) note_broken_making();
  }
  const bool has_run_out = (ended & making_ran_out) != std::byte{0};
  if (!is_for_mpi && !has_run_out) roll.find_carrier(lock);
  const bool is_substituted = call_policy().stands_in();
  const auto name_it = [&] {
    if (is_substituted) name_group(comm, *made, tag, world_ranks, number);
  };
  const std::uint64_t child = session.next_child();
  const bool is_over = session.is_revoked();
  of_parent.release(session);
  engine.close_session(lock, session);
  if (is_over) return ulfm::revoked_class();
  if (has_run_out) return code_without_numbers(comm, code);
  if (is_for_mpi) {
    if (code != MPI_SUCCESS) return code;
    name_it();
    open_communicator(*made, child, lock);
    return code;
  }
  const bool is_told = World::current()->options().on_loss == OnLoss::error && !is_substituted;
  if (!is_whole && is_told) return proc_failed();
  code = make_derived(world_ranks, roll, child, comm, made, lock);
  if (code == MPI_SUCCESS) name_it();
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
