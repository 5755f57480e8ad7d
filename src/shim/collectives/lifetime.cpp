// The calls that end a communicator: its session says goodbye first.
#include "shim/communicator.hpp"

using namespace resprout::shim;

extern "C" int MPI_Comm_free(MPI_Comm* comm) {
  if (comm != nullptr && *comm != MPI_COMM_NULL) close_communicator(*comm);
  return PMPI_Comm_free(comm);
}

extern "C" int MPI_Comm_disconnect(MPI_Comm* comm) {
  if (comm != nullptr && *comm != MPI_COMM_NULL) close_communicator(*comm);
  return PMPI_Comm_disconnect(comm);
}
