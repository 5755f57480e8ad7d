#include "shim/native/making.hpp"

#include <dlfcn.h>

#include <mutex>
#include <unordered_set>

#include "shim/ulfm.hpp"

namespace resprout::shim {
namespace {

// True unless it was revoked before.
using RevokeLocally = bool (*)(MPI_Comm comm, bool only_collectives);

RevokeLocally of_mpi() {
  static const auto revoke =
      reinterpret_cast<RevokeLocally>(dlsym(RTLD_NEXT, "ompi_comm_revoke_local"));
  return revoke;
}

// Never destroyed: the library makes progress to the end of the process.
struct Table {
  std::mutex mutex;
  int making = 0;
  std::unordered_set<MPI_Comm> made;
};

Table& table() {
  static auto* instance = new Table;
  return *instance;
}

bool is_to_be_left_alone(MPI_Comm comm) {
  Table& t = table();
  const std::lock_guard guard(t.mutex);
  return t.making != 0 && !t.made.contains(comm);
}

}  // namespace

void note_made(MPI_Comm comm) {
  {
    const std::lock_guard guard(table().mutex);
    table().made.insert(comm);
  }
  // The library may have heard of that when it was left alone, or was not in its table yet.
  if (ulfm::is_active() && !ulfm::failed_ranks(comm).empty()) of_mpi()(comm, true);
}

void note_gone(MPI_Comm comm) {
  const std::lock_guard guard(table().mutex);
  table().made.erase(comm);
}

void end_turn() {
  using CreateGroup = int (*)(MPI_Comm, MPI_Group, int tag, MPI_Comm*);
  // MPI_Comm_create_group would refuse to begin in what has lost a member.
  static const auto create_group =
      reinterpret_cast<CreateGroup>(dlsym(RTLD_DEFAULT, "ompi_comm_create_group"));
  if (create_group == nullptr) return;
  const Making making;
  MPI_Group world = MPI_GROUP_NULL;
  MPI_Group alone = MPI_GROUP_NULL;
  MPI_Comm made = MPI_COMM_NULL;
  int rank = 0;
  PMPI_Comm_group(MPI_COMM_WORLD, &world);
  PMPI_Group_rank(world, &rank);
  PMPI_Group_incl(world, 1, &rank, &alone);
  if (create_group(MPI_COMM_WORLD, alone, 0, &made) == MPI_SUCCESS) PMPI_Comm_free(&made);
  PMPI_Group_free(&alone);
  PMPI_Group_free(&world);
}

Making::Making() {
  const std::lock_guard guard(table().mutex);
  ++table().making;
}

Making::~Making() {
  const std::lock_guard guard(table().mutex);
  --table().making;
}

}  // namespace resprout::shim

// What the library calls for a communicator that has lost a member, or is revoked.
extern "C" bool ompi_comm_revoke_local(MPI_Comm comm, bool only_collectives) {
  using namespace resprout::shim;
  if (only_collectives && is_to_be_left_alone(comm)) return false;
  return of_mpi()(comm, only_collectives);
}
