// MPI_Barrier: an allreduce of nothing.
#include "shim/collectives/call.hpp"

using namespace resprout;
using namespace resprout::shim;

extern "C" int MPI_Barrier(MPI_Comm comm) {
  CollectiveCall call(comm, "barrier");
  if (!call.is_ours()) return PMPI_Barrier(comm);
  return call.finish(call.session().barrier(call.lock()));
}
