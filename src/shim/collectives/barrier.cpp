// MPI_Barrier: an allreduce of nothing.
#include "shim/collectives/call.hpp"

using namespace resprout;
using namespace resprout::shim;

extern "C" int MPI_Barrier(MPI_Comm comm) {
  CollectiveCall call(comm, "barrier", CollectiveCall::Lock::later);
  if (!call.is_ours()) return PMPI_Barrier(comm);
  const MPI_Comm native = call.native(Kind::barrier, 0);
  if (native != MPI_COMM_NULL) {
    const auto code = call.run(NativeCollective({.comm = native, .synchronizes = true},
                                                [&] { return PMPI_Barrier(native); }));
    if (code) return *code;
  }
  return call.finish(call.session().barrier(call.lock()));
}
