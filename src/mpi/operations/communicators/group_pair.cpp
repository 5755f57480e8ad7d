#include "mpi/operations/communicators/group_pair.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "mpi/handles/communicators/communicator.hpp"
#include "mpi/handles/communicators/derived.hpp"
#include "mpi/handles/communicators/failures.hpp"
#include "mpi/handles/errors/codes.hpp"
#include "mpi/handles/errors/quiet.hpp"
#include "mpi/operations/communicators/native_twin.hpp"
#include "mpi/process/own_calls.hpp"
#include "mpi/process/world.hpp"
#include "openmpi/ulfm.hpp"

namespace resprout::shim {
namespace {

bool has(const std::vector<int>& ranks, int rank) {
  return std::ranges::find(ranks, rank) != ranks.end();
}

int rank_in(MPI_Comm comm, int world_rank) {
  MPI_Group of_world = MPI_GROUP_NULL;
  MPI_Group of_comm = MPI_GROUP_NULL;
  int rank = MPI_UNDEFINED;
  PMPI_Comm_group(MPI_COMM_WORLD, &of_world);
  PMPI_Comm_group(comm, &of_comm);
  PMPI_Group_translate_ranks(of_world, 1, &world_rank, of_comm, &rank);
  PMPI_Group_free(&of_comm);
  PMPI_Group_free(&of_world);
  return rank;
}

}  // namespace

GroupPair::GroupPair(const GroupPairCall& call) : call_(call) {
  const OwnCalls own;
  const QuietLosses quiet;
  if (communicator_of(call.local_comm)->rank == call.local_leader) settled_ = settle();
  constexpr int ints = sizeof settled_ / sizeof(int);
  const int code = MPI_Bcast(&settled_, ints, MPI_INT, call.local_leader, call.local_comm);
  if (code != MPI_SUCCESS) settled_.way = Way::broken;
}

// Of a leader. Whoever is of another job may be without Resprout.
GroupPair::Settled GroupPair::settle() const {
  if (call_.bridge_comm == MPI_COMM_NULL || call_.remote_leader < 0) return {};
  const std::vector<int>& bridge = communicator_of(call_.bridge_comm)->world_ranks;
  const auto place = static_cast<std::size_t>(call_.remote_leader);
  if (place >= bridge.size() || bridge[place] == MPI_UNDEFINED) return {};
  const std::vector<int>& mine = communicator_of(call_.local_comm)->world_ranks;
  const bool has_lost = is_derived(call_.local_comm) || is_derived(call_.bridge_comm) ||
                        !failed_in(MPI_COMM_WORLD).empty();
  const std::array<int, 2> said{has_lost ? 1 : 0, static_cast<int>(mine.size())};
  std::array<int, 2> heard{};
  if (exchange(said.data(), heard.data(), 2, 2) != MPI_SUCCESS) return {.way = Way::broken};
  if (said[0] == 0 && heard[0] == 0) return {};
  std::vector<int> theirs(static_cast<std::size_t>(std::max(heard[1], 0)));
  if (exchange(mine.data(), theirs.data(), said[1], heard[1]) != MPI_SUCCESS)
    return {.way = Way::broken};
  std::vector<int> both = mine;
  both.insert(both.end(), theirs.begin(), theirs.end());
  Settled settled{.way = Way::anew,
                  .members = static_cast<int>(both.size()),
                  .remote_leader = bridge[place],
                  .is_second = mine.front() > theirs.front() ? 1 : 0};
  const auto lost = failed_in(MPI_COMM_WORLD);
  if (std::ranges::any_of(lost, [&](int rank) { return has(both, rank); }))
    settled.way = Way::broken;
  else if (!are_all_who_live(both))
    settled.way = Way::refused;
  const int own_way = static_cast<int>(settled.way);
  int other_way = 0;
  if (exchange(&own_way, &other_way, 1, 1) != MPI_SUCCESS) return {.way = Way::broken};
  settled.way = static_cast<Way>(std::max(own_way, other_way));
  return settled;
}

int GroupPair::exchange(const void* mine, void* others, int mine_count, int others_count) const {
  return MPI_Sendrecv(mine, mine_count, MPI_INT, call_.remote_leader, call_.tag, others,
                      others_count, MPI_INT, call_.remote_leader, call_.tag, call_.bridge_comm,
                      MPI_STATUS_IGNORE);
}

int GroupPair::make(MPI_Comm* intercomm) const {
  MPI_Comm living = ulfm::shrink(MPI_COMM_WORLD);
  if (living == MPI_COMM_NULL) return proc_failed();
  PMPI_Comm_set_errhandler(living, MPI_ERRORS_RETURN);
  int size = 0;
  PMPI_Comm_size(living, &size);
  MPI_Comm half = MPI_COMM_NULL;
  int code = proc_failed();
  if (size == settled_.members)
    code =
        PMPI_Comm_split(living, settled_.is_second, communicator_of(call_.local_comm)->rank, &half);
  if (code == MPI_SUCCESS) {
    code = PMPI_Intercomm_create(half, call_.local_leader, living,
                                 rank_in(living, settled_.remote_leader), call_.tag, intercomm);
    PMPI_Comm_free(&half);
  }
  PMPI_Comm_free(&living);
  return code;
}

}  // namespace resprout::shim
