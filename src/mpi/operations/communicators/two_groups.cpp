// Communicators that the MPI library makes of two groups. What it does about a loss meanwhile is up
// to it; the session of what it has made is ours.
#include <mpi.h>

#include "mpi/carriers/call.hpp"
#include "mpi/handles/communicators/common_name.hpp"
#include "mpi/handles/communicators/communicator.hpp"
#include "mpi/handles/communicators/derived.hpp"
#include "mpi/handles/error_handlers/errors.hpp"
#include "mpi/handles/error_handlers/refusal.hpp"
#include "mpi/handles/errors/codes.hpp"
#include "mpi/operations/communicators/group_pair.hpp"
#include "mpi/operations/communicators/native_twin.hpp"
#include "mpi/process/world.hpp"
#include "openmpi/ulfm.hpp"

using namespace resprout::shim;

namespace {

int make_anew(const GroupPair& pair, MPI_Comm local_comm, MPI_Comm* made) {
  const int code = pair.make(made);
  if (code == MPI_SUCCESS) inherit_error_handler(local_comm, *made);
  return finish(local_comm, "intercomm_create", code);
}

}  // namespace

extern "C" int MPI_Intercomm_create(MPI_Comm local_comm, int local_leader, MPI_Comm bridge_comm,
                                    int remote_leader, int tag, MPI_Comm* newintercomm) {
  const auto native = [&] {
    return PMPI_Intercomm_create(local_comm, local_leader, bridge_comm, remote_leader, tag,
                                 newintercomm);
  };
  if (World::current() == nullptr || local_comm == MPI_COMM_NULL) return native();
  constexpr const char* name = "intercomm_create";
  count_call(*World::current(), name);
  const Communicator& local = *communicator_of(local_comm);
  const auto members = static_cast<int>(local.world_ranks.size());
  if (local.is_inter || local_leader < 0 || local_leader >= members) return native();
  if (!ulfm::is_active()) {
    const MPI_Comm derived = is_derived(local_comm) ? local_comm : bridge_comm;
    return is_derived(derived) ? refuse_derived(derived, name) : native();
  }
  const GroupPair pair({local_comm, local_leader, bridge_comm, remote_leader, tag});
  switch (pair.way()) {
    case GroupPair::Way::library:
      return native();
    case GroupPair::Way::anew:
      return make_anew(pair, local_comm, newintercomm);
    case GroupPair::Way::refused:
      return refuse_derived(local_comm, name);
    case GroupPair::Way::broken:
      break;
  }
  return finish(local_comm, name, proc_failed());
}

extern "C" int MPI_Intercomm_merge(MPI_Comm intercomm, int high, MPI_Comm* newintracomm) {
  constexpr const char* name = "intercomm_merge";
  if (World::current() != nullptr) count_call(*World::current(), name);
  const int code = PMPI_Intercomm_merge(intercomm, high, newintracomm);
  if (code != MPI_SUCCESS) return code;
  return finish(intercomm, name, open_by_common_name(*newintracomm));
}
