// MPI_Barrier: an allreduce of nothing.
#include "mpi/carriers/call.hpp"
#include "mpi/carriers/shared_slots/shared_slots.hpp"
#include "mpi/policies/replicas/substituted_collective.hpp"
#include "runtime/collectives.hpp"

using namespace resprout;
using namespace resprout::shim;

extern "C" int MPI_Barrier(MPI_Comm comm) {
  const SubstitutedCall substituted(comm, "barrier", call_data_of::barrier());
  int code = MPI_SUCCESS;
  const Taken taken = maybe_barrier_by_shared_slots(comm, code);
  if (taken == Taken::done) return code;
  CollectiveCall call(comm, "barrier", CollectiveCall::Lock::later, entry_after(taken));
  if (!call.is_ours()) return PMPI_Barrier(comm);
  if (goes_by_shared_slots(call, Kind::barrier, 0) && barrier_by_shared_slots(call))
    return call.finish(outcome_of_last(*call.communicator().shared_slots));
  const MPI_Comm native = call.native(Kind::barrier, 0);
  if (native != MPI_COMM_NULL) {
    const auto ended = call.run(NativeCollective(
        {.communicator = &call.communicator(), .comm = native, .synchronizes = true},
        [&] { return PMPI_Barrier(native); }));
    if (ended) return *ended;
  }
  return call.finish(runtime::barrier(call.session(), call.lock()));
}
