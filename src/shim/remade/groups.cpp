// MPI_Comm_create_group: only the members of the group take part, so they agree among themselves
// whether the MPI library can make it. That is an operation of a session of its own, which is
// revoked with the communicator's.
#include <algorithm>
#include <vector>

#include "runtime/engine.hpp"
#include "shim/collectives/call.hpp"
#include "shim/communicator.hpp"
#include "shim/errors.hpp"
#include "shim/inject/inject.hpp"
#include "shim/native/making.hpp"
#include "shim/remade/remade.hpp"
#include "shim/remade/roll_call.hpp"
#include "shim/report/report.hpp"
#include "shim/ulfm.hpp"
#include "shim/ulfm/revocations.hpp"
#include "shim/world.hpp"

using namespace resprout;
using namespace resprout::shim;

namespace {

constexpr const char* name = "comm_create_group";

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
  const bool is_whole = session.members().size() == session.everybody().size();
  const bool is_for_mpi = is_whole && roll.is_peaceful() && !parent.remade;
  if (!is_for_mpi) roll.find_spare(lock);
  const std::uint64_t child = session.next_child();
  const bool is_over = session.is_revoked();
  of_parent.release(session);
  engine.close_session(lock, session);
  if (is_over) return ulfm::revoked_class();
  if (is_for_mpi) {
    lock.unlock();
    const Making making;
    const int code = PMPI_Comm_create_group(comm, group, tag, made);
    if (code == MPI_SUCCESS) note_made(*made);
    lock.lock();
    if (code == MPI_SUCCESS) open_communicator(*made, child, lock);
    if (has_met_loss(code)) note_broken_making();
    return code;
  }
  if (!is_whole && World::current()->options().on_loss == OnLoss::error) return proc_failed();
  return remake(world_ranks, roll, child, comm, made, lock);
}

}  // namespace

extern "C" int MPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm* newcomm) {
  const auto native = [&] { return PMPI_Comm_create_group(comm, group, tag, newcomm); };
  if (World::current() == nullptr || comm == MPI_COMM_NULL || group == MPI_GROUP_NULL)
    return native();
  if (!ulfm::is_active() || communicator_of(comm)->is_native) return native();
  const std::vector<int> world_ranks = world_ranks_in(comm, group);
  const int self = World::current()->rank();
  if (std::find(world_ranks.begin(), world_ranks.end(), self) == world_ranks.end() ||
      (world_ranks.size() < 2 && !is_remade(comm)))
    return native();
  pass_on_revocations();
  entering(name);
  World::current()->report().count_call(name);
  *newcomm = MPI_COMM_NULL;
  if (is_revoked(comm)) return finish(comm, name, ulfm::revoked_class());
  return finish(comm, name, create(comm, group, tag, world_ranks, newcomm));
}
