// Processes of other jobs: those that the program starts, and those that it reaches through a port.
//
// The MPI library makes the inter-communicator, also for those who are left of a job. All members
// agree first that nobody of them is lost: the library would wait for it at some of them. Resprout
// knows nobody on the other side: what becomes of the communicator, and of all that are made of it,
// after a loss is up to the library. A program that starts others in the place of the lost (shrink,
// spawn, merge, split) goes on so. What starts ranks of MPICH and Intel MPI (launch/own) starts no
// others, so all members are refused alike.
#include "mpi/carriers/call.hpp"
#include "mpi/carriers/if_whole.hpp"
#include "mpi/handles/communicators/communicator.hpp"
#include "mpi/handles/communicators/derived.hpp"
#include "mpi/handles/error_handlers/errors.hpp"
#include "mpi/handles/error_handlers/refusal.hpp"
#include "mpi/handles/errors/codes.hpp"
#include "mpi/operations/communicators/native_twin.hpp"
#include "mpi/process/world.hpp"
#include "openmpi/ulfm.hpp"

using namespace resprout::shim;

namespace {

// The launcher of these ranks starts no others: it is ours, as the library's knows of no losses.
bool are_all_started() {
  return World::current() != nullptr && ulfm::outlives_losses() && !ulfm::is_active();
}

// `make`: the library's call on the communicator that it is given.
template <typename Make>
int connect_to_others(MPI_Comm comm, const char* name, MPI_Comm* made, Make make) {
  if (!is_derived(comm)) return if_whole(comm, name, [&] { return make(comm); });
  count_call(*World::current(), name);
  const NativeTwin twin(comm);
  if (!twin.is_possible()) return refuse_derived(comm, name);
  const int code = twin.is_whole() ? make(twin.comm()) : proc_failed();
  if (code == MPI_SUCCESS) inherit_error_handler(comm, *made);
  return finish(comm, name, code);
}

}  // namespace

extern "C" int MPI_Comm_spawn(const char* command, char* argv[], int maxprocs, MPI_Info info,
                              int root, MPI_Comm comm, MPI_Comm* intercomm, int errcodes[]) {
  if (are_all_started()) return refuse_start(comm, "comm_spawn");
  return connect_to_others(comm, "comm_spawn", intercomm, [&](MPI_Comm members) {
    return PMPI_Comm_spawn(command, argv, maxprocs, info, root, members, intercomm, errcodes);
  });
}

extern "C" int MPI_Comm_spawn_multiple(int count, char* commands[], char** argvs[],
                                       const int maxprocs[], const MPI_Info infos[], int root,
                                       MPI_Comm comm, MPI_Comm* intercomm, int errcodes[]) {
  if (are_all_started()) return refuse_start(comm, "comm_spawn_multiple");
  return connect_to_others(comm, "comm_spawn_multiple", intercomm, [&](MPI_Comm members) {
    return PMPI_Comm_spawn_multiple(count, commands, argvs, maxprocs, infos, root, members,
                                    intercomm, errcodes);
  });
}

extern "C" int MPI_Comm_accept(const char* port, MPI_Info info, int root, MPI_Comm comm,
                               MPI_Comm* newcomm) {
  return connect_to_others(comm, "comm_accept", newcomm, [&](MPI_Comm members) {
    return PMPI_Comm_accept(port, info, root, members, newcomm);
  });
}

extern "C" int MPI_Comm_connect(const char* port, MPI_Info info, int root, MPI_Comm comm,
                                MPI_Comm* newcomm) {
  return connect_to_others(comm, "comm_connect", newcomm, [&](MPI_Comm members) {
    return PMPI_Comm_connect(port, info, root, members, newcomm);
  });
}
