// MPI_Barrier: an allreduce of nothing.
#include "mpi/carriers/call.hpp"
#include "mpi/carriers/lanes/lanes.hpp"
#include "mpi/policies/replicas/masked.hpp"
#include "runtime/collectives.hpp"

using namespace resprout;
using namespace resprout::shim;

extern "C" int MPI_Barrier(MPI_Comm comm) {
  const Masked masked(comm, "barrier", sides_of::barrier());
  const Taken taken = maybe_barrier_by_lanes(comm);
  if (taken == Taken::done) return MPI_SUCCESS;
  CollectiveCall call(comm, "barrier", CollectiveCall::Lock::later, entry_after(taken));
  if (!call.is_ours()) return PMPI_Barrier(comm);
  if (goes_by_lanes(call, Kind::barrier, 0) && barrier_by_lanes(call))
    return call.finish(delivered());
  const MPI_Comm native = call.native(Kind::barrier, 0);
  if (native != MPI_COMM_NULL) {
    const auto code = call.run(NativeCollective(
        {.communicator = &call.communicator(), .comm = native, .synchronizes = true},
        [&] { return PMPI_Barrier(native); }));
    if (code) return *code;
  }
  return call.finish(runtime::barrier(call.session(), call.lock()));
}
