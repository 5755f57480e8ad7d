// The Fortran forms of MPI_Comm_idup and its kin (late.hpp).
#include <mpi.h>

#ifdef OPEN_MPI

#  include <memory>
#  include <utility>

#  include "mpi/operations/fortran/arguments.hpp"
#  include "mpi/operations/fortran/late.hpp"
#  include "mpi/operations/fortran/names.hpp"
#  include "openmpi/ulfm.hpp"
#  include "resprout/resprout.h"

using namespace resprout::shim::fortran;

namespace {

// Some communicators are there at once.
template <typename Start>
void start(MPI_Fint* newcomm, MPI_Fint* request, MPI_Fint* ierror, Start c_form) {
  auto late = std::make_unique<LateCommunicator>(LateCommunicator{MPI_COMM_NULL, newcomm});
  MPI_Request c_request = MPI_REQUEST_NULL;
  const int code = c_form(&late->made, &c_request);
  give(ierror, code);
  if (code != MPI_SUCCESS) return;
  *newcomm = PMPI_Comm_c2f(late->made);
  *request = PMPI_Request_c2f(c_request);
  if (c_request == MPI_REQUEST_NULL) return;
  note_late_communicator(*request, std::move(late));
}

}  // namespace

extern "C" void mpi_comm_idup_(const MPI_Fint* comm, MPI_Fint* newcomm, MPI_Fint* request,
                               MPI_Fint* ierror) {
  start(newcomm, request, ierror, [&](MPI_Comm* made, MPI_Request* c_request) {
    return MPI_Comm_idup(Comm::In(comm), made, c_request);
  });
}
RESPROUT_FORTRAN_NAMES(mpi_comm_idup, MPI_COMM_IDUP, MPI_Comm_idup)

#  if OMPI_MAJOR_VERSION >= 5
extern "C" void mpi_comm_idup_with_info_(const MPI_Fint* comm, const MPI_Fint* info,
                                         MPI_Fint* newcomm, MPI_Fint* request, MPI_Fint* ierror) {
  start(newcomm, request, ierror, [&](MPI_Comm* made, MPI_Request* c_request) {
    return MPI_Comm_idup_with_info(Comm::In(comm), Info::In(info), made, c_request);
  });
}
RESPROUT_FORTRAN_NAMES(mpi_comm_idup_with_info, MPI_COMM_IDUP_WITH_INFO, MPI_Comm_idup_with_info)
#  endif

extern "C" void mpix_comm_ishrink_(const MPI_Fint* comm, MPI_Fint* newcomm, MPI_Fint* request,
                                   MPI_Fint* ierror) {
  start(newcomm, request, ierror, [&](MPI_Comm* made, MPI_Request* c_request) {
    return MPIX_Comm_ishrink(Comm::In(comm), made, c_request);
  });
}
RESPROUT_FORTRAN_NAMES(mpix_comm_ishrink, MPIX_COMM_ISHRINK, MPIX_Comm_ishrink)

#endif
