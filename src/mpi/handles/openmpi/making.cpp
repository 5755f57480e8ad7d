#include "mpi/handles/openmpi/making.hpp"

#include <dlfcn.h>
#include <mpi.h>

#include <atomic>
#include <cstdio>
#include <unordered_set>

#include "mpi/handles/communicators/carrier_pool.hpp"
#include "mpi/handles/openmpi/numbers.hpp"
#include "openmpi/ulfm.hpp"
#include "runtime/mutex.hpp"

namespace resprout::shim {
namespace {

// True unless it was revoked before.
using RevokeLocally = bool (*)(MPI_Comm comm, bool only_collectives);
using GiveCollectives = int (*)(MPI_Comm comm);

// The library's own.
template <typename Function>
Function of_mpi(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

bool revoke_as_mpi(MPI_Comm comm, bool only_collectives) {
  static const auto revoke = of_mpi<RevokeLocally>("ompi_comm_revoke_local");
  return revoke(comm, only_collectives);
}

// Those that are set up. Never destroyed: the library makes progress to the end of the process.
struct Table {
  runtime::Mutex mutex;
  std::unordered_set<MPI_Comm> comms RESPROUT_GUARDED_BY(mutex);
  std::atomic<bool> knows_of_loss = false;  // the library
};

Table& table() {
  static auto* instance = new Table;
  return *instance;
}

bool is_set_up(MPI_Comm comm) {
  const runtime::MutexLock guard(table().mutex);
  return table().comms.contains(comm);
}

void note_set_up(MPI_Comm comm) {
  {
    const runtime::MutexLock guard(table().mutex);
    table().comms.insert(comm);
  }
  // The library may have heard of that when it was left alone, or was not in its table yet.
  if (table().knows_of_loss && !ulfm::failed_ranks(comm).empty()) revoke_as_mpi(comm, true);
}

}  // namespace

bool end_turn() {
  using CreateGroup = int (*)(MPI_Comm, MPI_Group, int tag, MPI_Comm*);
  // MPI_Comm_create_group would refuse to begin in what has lost a member.
  static const auto create_group =
      reinterpret_cast<CreateGroup>(dlsym(RTLD_DEFAULT, "ompi_comm_create_group"));
  if (create_group == nullptr) return true;
  MPI_Group world = MPI_GROUP_NULL;
  MPI_Group alone = MPI_GROUP_NULL;
  MPI_Comm made = MPI_COMM_NULL;
  int rank = 0;
  const FarNumbers far_numbers;
  PMPI_Comm_group(MPI_COMM_WORLD, &world);
  PMPI_Group_rank(world, &rank);
  PMPI_Group_incl(world, 1, &rank, &alone);
  const bool is_made = create_group(MPI_COMM_WORLD, alone, 0, &made) == MPI_SUCCESS;
  if (is_made) PMPI_Comm_free(&made);
  PMPI_Group_free(&alone);
  PMPI_Group_free(&world);
  return is_made;
}

std::byte end_of_making(int code) {
  if (code == MPI_SUCCESS) return std::byte{0};
  const bool has_numbers_left = end_turn();
  if (!has_met_loss(code)) return std::byte{0};
  return has_numbers_left ? making_met_loss : making_ran_out;
}

int code_without_numbers(MPI_Comm like, int code) {
  static std::atomic<bool> is_said{false};
  int rank = 0;
  PMPI_Comm_rank(like, &rank);
  if (rank == 0 && !is_said.exchange(true))
    std::fputs(
        "resprout: no communicator can be made: the MPI library has a number for no more of them "
        "at one time, until some are freed (docs/reference/after-a-loss.md)\n",
        stderr);
  return code != MPI_SUCCESS ? code : MPI_ERR_INTERN;
}

}  // namespace resprout::shim

using namespace resprout::shim;

// What the library calls for a communicator that has lost a member, or is revoked.
extern "C" bool ompi_comm_revoke_local(MPI_Comm comm, bool only_collectives) {
  if (only_collectives) {
    table().knows_of_loss = true;
    if (!is_set_up(comm)) return false;
  }
  return revoke_as_mpi(comm, only_collectives);
}

// What the library calls for a new communicator at the end.
extern "C" int mca_coll_base_comm_select(MPI_Comm comm) {
  static const auto select = of_mpi<GiveCollectives>("mca_coll_base_comm_select");
  const int code = select(comm);
  if (code == MPI_SUCCESS) note_set_up(comm);
  return code;
}

extern "C" int mca_coll_base_comm_unselect(MPI_Comm comm) {
  static const auto unselect = of_mpi<GiveCollectives>("mca_coll_base_comm_unselect");
  {
    const resprout::runtime::MutexLock guard(table().mutex);
    table().comms.erase(comm);
  }
  return unselect(comm);
}
