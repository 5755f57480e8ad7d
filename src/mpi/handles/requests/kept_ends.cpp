#include "mpi/handles/requests/kept_ends.hpp"

namespace resprout::shim {
namespace {

int tell(void* kept, MPI_Status* status) {
  const int error = status->MPI_ERROR;  // MPI's, and not ours to say
  *status = *static_cast<MPI_Status*>(kept);
  status->MPI_ERROR = error;
  return MPI_SUCCESS;
}

int drop(void* kept) {
  delete static_cast<MPI_Status*>(kept);
  return MPI_SUCCESS;
}

int leave(void* /*kept*/, int /*is_complete*/) { return MPI_SUCCESS; }

}  // namespace

void keep_end(MPI_Request& request, const MPI_Status& status) {
  PMPI_Grequest_start(tell, drop, leave, new MPI_Status(status), &request);
  PMPI_Grequest_complete(request);
}

}  // namespace resprout::shim
