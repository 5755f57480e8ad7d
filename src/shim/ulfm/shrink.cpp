#include "shim/ulfm/shrink.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "runtime/engine.hpp"
#include "shim/collectives/nonblocking/under_way.hpp"
#include "shim/collectives/specs.hpp"
#include "shim/communicator.hpp"
#include "shim/errors.hpp"
#include "shim/report/report.hpp"
#include "shim/ulfm.hpp"
#include "shim/ulfm/agreement.hpp"
#include "shim/world.hpp"

namespace resprout::shim {
namespace {

// How often the same members try: MPI may be convinced that somebody is lost who is not.
constexpr int tries_max = 3;
// How long MPI may take to notice the losses that the lifeline has found, in heartbeat timeouts.
constexpr int patience = 10;

std::vector<int> world_ranks_left(const runtime::Session& session) {
  std::vector<int> ranks;
  for (int i = 0; i < session.members().size(); ++i)
    ranks.push_back(session.members().world_rank(rank_at(i)));
  return ranks;
}

// MPI's own shrink waits for everybody of whom it does not know that they are lost.
bool wait_until_mpi_knows(MPI_Comm comm, const std::vector<int>& left) {
  const std::vector<int>& world_ranks = communicator_of(comm)->world_ranks;
  const std::int64_t end = wall_clock_ns() + std::int64_t{patience} * 1'000'000 *
                                                 World::current()->options().heartbeat_timeout_ms;
  Patience pauses;
  for (;;) {
    std::vector<int> known;
    for (const int rank : ulfm::failed_ranks(comm))
      known.push_back(world_ranks[static_cast<std::size_t>(rank)]);
    const auto is_known = [&](int rank) {
      return std::find(left.begin(), left.end(), rank) != left.end() ||
             std::find(known.begin(), known.end(), rank) != known.end();
    };
    if (std::all_of(world_ranks.begin(), world_ranks.end(), is_known)) return true;
    if (wall_clock_ns() > end) return false;
    int flag = 0;
    PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
    pauses.pause();
  }
}

// MPI's part. MPI_COMM_NULL: it could not.
MPI_Comm make(MPI_Comm comm, const std::vector<int>& left) {
  MPI_Comm made = MPI_COMM_NULL;
  if (ulfm::is_active()) {
    if (!wait_until_mpi_knows(comm, left)) return MPI_COMM_NULL;
    return ulfm::shrink(comm);
  }
  // Not among some of its members: it would wait for the others.
  if (left.size() < communicator_of(comm)->world_ranks.size()) return MPI_COMM_NULL;
  MPI_Group group = MPI_GROUP_NULL;
  PMPI_Comm_group(comm, &group);
  if (PMPI_Comm_create(comm, group, &made) != MPI_SUCCESS) made = MPI_COMM_NULL;
  PMPI_Group_free(&group);
  return made;
}

bool has_members(MPI_Comm made, const std::vector<int>& left) {
  return made != MPI_COMM_NULL && communicator_of(made)->world_ranks == left;
}

// Who may make no more of it leaves it as it is: freeing it needs those who are lost.
bool all_have_it(runtime::Session& repair, runtime::Lock& lock, bool has_it) {
  Opinion opinion(has_it ? 1 : 0, 0, {});
  BitwiseAnd both;
  repair.allreduce(lock, reduce_spec(repair, opinion.bytes().size()), opinion.bytes(), both,
                   [&](std::span<const std::byte> agreed) { opinion.take(agreed); });
  return opinion.flag() != 0;
}

void copy_error_handler(MPI_Comm from, MPI_Comm to) {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  PMPI_Comm_get_errhandler(from, &handler);
  PMPI_Comm_set_errhandler(to, handler);
  PMPI_Errhandler_free(&handler);
}

}  // namespace

int shrink(MPI_Comm comm, MPI_Comm* shrunken) {
  runtime::Lock lock = World::current()->engine().lock();
  runtime::Session& repair = *repair_session_of(comm, lock);
  repair.finish_tasks(lock);
  int members = -1;
  for (int tries = 0; tries < tries_max; ++tries) {
    repair.barrier(lock);
    if (std::exchange(members, repair.members().size()) != repair.members().size()) tries = 0;
    const std::uint64_t name = repair.next_child();
    const std::vector<int> left = world_ranks_left(repair);
    lock.unlock();
    const MPI_Comm made = make(comm, left);
    const bool has_it = has_members(made, left);
    if (has_it) copy_error_handler(comm, made);
    lock.lock();
    if (has_it) open_communicator(made, name, lock);
    if (!all_have_it(repair, lock, has_it)) continue;
    lock.unlock();
    *shrunken = made;
    return MPI_SUCCESS;
  }
  return proc_failed();
}

}  // namespace resprout::shim
