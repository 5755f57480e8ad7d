// Communicators of two groups.
//
// Where losses are borne inter-communicators of this job's processes are made between.hpp's way.
// The MPI library makes all others. What it does about a loss meanwhile is up to it; the session of
// what it has made is ours.
#include <mpi.h>

#include "mpi/carriers/call.hpp"
#include "mpi/handles/communicators/both_groups.hpp"
#include "mpi/handles/communicators/common_name.hpp"
#include "mpi/handles/communicators/communicator.hpp"
#include "mpi/handles/communicators/derived.hpp"
#include "mpi/handles/error_handlers/errors.hpp"
#include "mpi/handles/error_handlers/refusal.hpp"
#include "mpi/handles/errors/codes.hpp"
#include "mpi/operations/communicators/between.hpp"
#include "mpi/operations/communicators/group_pair.hpp"
#include "mpi/process/world.hpp"
#include "openmpi/ulfm.hpp"
#include "runtime/engine.hpp"

using namespace resprout;
using namespace resprout::shim;

namespace {

// Planes that nobody has to outlive a loss in leave it to the library.
bool are_introduced() {
  const World& world = *World::current();
  return ulfm::outlives_losses() && !world.options().is_replicated();
}

int make_of_pair(const GroupPair& pair, MPI_Comm local_comm, MPI_Comm* made) {
  runtime::Engine& engine = World::current()->engine();
  runtime::Lock lock = engine.lock();
  runtime::Session& session = engine.open_session(lock, pair.name, pair.groups.all());
  lock.unlock();
  const Side side{.key = communicator_of(local_comm)->rank};
  const int code = make_between(local_comm, "intercomm_create", session, pair.groups, side, made);
  lock.lock();
  engine.close_session(lock, session);
  return code;
}

}  // namespace

extern "C" int MPI_Intercomm_create(MPI_Comm local_comm, int local_leader, MPI_Comm bridge_comm,
                                    int remote_leader, int tag, MPI_Comm* newintercomm) {
  constexpr const char* name = "intercomm_create";
  const auto native = [&] {
    return PMPI_Intercomm_create(local_comm, local_leader, bridge_comm, remote_leader, tag,
                                 newintercomm);
  };
  if (World::current() == nullptr || local_comm == MPI_COMM_NULL) return native();
  count_call(*World::current(), name);
  const Communicator& local = *communicator_of(local_comm);
  const auto members = static_cast<int>(local.world_ranks.size());
  if (local.is_inter || local_leader < 0 || local_leader >= members) return native();
  if (!are_introduced()) {
    const MPI_Comm derived = is_derived(local_comm) ? local_comm : bridge_comm;
    return is_derived(derived) ? refuse_derived(derived, name) : native();
  }
  const auto [end, pair] = introduce({local_comm, local_leader, bridge_comm, remote_leader, tag});
  switch (end) {
    case Introduction::End::known:
      return make_of_pair(pair, local_comm, newintercomm);
    case Introduction::End::strangers:
      return native();
    case Introduction::End::overlapping:
      return finish(local_comm, name, MPI_ERR_COMM);
    case Introduction::End::broken:
      break;
  }
  *newintercomm = MPI_COMM_NULL;
  return finish(local_comm, name, proc_failed());
}

extern "C" int MPI_Intercomm_merge(MPI_Comm intercomm, int high, MPI_Comm* newintracomm) {
  constexpr const char* name = "intercomm_merge";
  if (World::current() != nullptr && intercomm != MPI_COMM_NULL)
    count_call(*World::current(), name);
  if (has_both_groups(intercomm)) return merge_between(intercomm, high, newintracomm);
  const int code = PMPI_Intercomm_merge(intercomm, high, newintracomm);
  if (code != MPI_SUCCESS) return code;
  return finish(intercomm, name, open_by_common_name(*newintracomm));
}
