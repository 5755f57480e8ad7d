// The calls that end a communicator: its session says goodbye first. One that receives of
// replicas still need is left to MPI_Finalize.
#include "shim/communicator.hpp"
#include "shim/remade/remade.hpp"
#include "shim/replication/receives.hpp"
#include "shim/send_halves.hpp"

using namespace resprout::shim;

namespace {

// `native()` is MPI's own call.
template <typename Native>
int end(MPI_Comm* comm, Native native) {
  if (comm == nullptr || *comm == MPI_COMM_NULL) return native();
  leave_send_halves(*comm);
  const bool is_clean = close_communicator(*comm);
  if (Receives* by = receives(); by != nullptr && by->is_needed(*comm)) {
    *comm = MPI_COMM_NULL;
    return MPI_SUCCESS;
  }
  if (!is_remade(*comm)) return native();
  const int code = unmake(*comm, is_clean);
  if (code == MPI_SUCCESS) *comm = MPI_COMM_NULL;
  return code;
}

}  // namespace

extern "C" int MPI_Comm_free(MPI_Comm* comm) {
  return end(comm, [&] { return PMPI_Comm_free(comm); });
}

extern "C" int MPI_Comm_disconnect(MPI_Comm* comm) {
  return end(comm, [&] { return PMPI_Comm_disconnect(comm); });
}
