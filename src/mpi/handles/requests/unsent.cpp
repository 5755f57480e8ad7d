#include "mpi/handles/requests/unsent.hpp"

#include "mpi/handles/requests/request_record.hpp"

namespace resprout::shim {
namespace {

int describe(void*, MPI_Status* status) {
  PMPI_Status_set_elements(status, MPI_BYTE, 0);
  PMPI_Status_set_cancelled(status, 0);
  status->MPI_SOURCE = MPI_UNDEFINED;
  status->MPI_TAG = MPI_UNDEFINED;
  return MPI_SUCCESS;
}

int free_nothing(void*) { return MPI_SUCCESS; }
int cancel_nothing(void*, int) { return MPI_SUCCESS; }

}  // namespace

int start_nothing(MPI_Request* request) {
  return PMPI_Isend(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_SELF, request);
}

int start_unsent(MPI_Comm comm, int dest, int code, MPI_Request* request) {
  int made = PMPI_Grequest_start(describe, free_nothing, cancel_nothing, nullptr, request);
  if (made == MPI_SUCCESS) made = PMPI_Grequest_complete(*request);
  if (made != MPI_SUCCESS) return made;
  remember(*request,
           {.comm = comm, .peer = dest, .kind = RequestRecord::Kind::send, .unsent_code = code});
  return MPI_SUCCESS;
}

}  // namespace resprout::shim
