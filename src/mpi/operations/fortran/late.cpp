#include "mpi/operations/fortran/late.hpp"

#ifdef OPEN_MPI

#  include <atomic>
#  include <map>
#  include <memory>
#  include <mutex>

#  include "mpi/operations/fortran/arguments.hpp"
#  include "mpi/operations/fortran/names.hpp"
#  include "openmpi/ulfm.hpp"
#  include "resprout/resprout.h"

namespace resprout::shim::fortran {
namespace {

struct Late {
  MPI_Comm made;
  MPI_Fint* fortran;  // where the program wants it
};

// Never destroyed, as requests may be waited for at exit.
struct Table {
  std::mutex mutex;
  std::map<MPI_Fint, std::unique_ptr<Late>> by_request;
  std::atomic<bool> was_used = false;
};

Table& table() {
  static auto* instance = new Table;
  return *instance;
}

// Some communicators are there at once.
template <typename Start>
void start(MPI_Fint* newcomm, MPI_Fint* request, MPI_Fint* ierror, Start c_form) {
  auto late = std::make_unique<Late>(Late{MPI_COMM_NULL, newcomm});
  MPI_Request c_request = MPI_REQUEST_NULL;
  const int code = c_form(&late->made, &c_request);
  give(ierror, code);
  if (code != MPI_SUCCESS) return;
  *newcomm = PMPI_Comm_c2f(late->made);
  *request = PMPI_Request_c2f(c_request);
  if (c_request == MPI_REQUEST_NULL) return;
  const std::scoped_lock lock(table().mutex);
  table().by_request[*request] = std::move(late);
  table().was_used = true;
}

}  // namespace

void give_late_communicator(MPI_Fint request) {
  if (!table().was_used) return;
  const std::scoped_lock lock(table().mutex);
  const auto it = table().by_request.find(request);
  if (it == table().by_request.end()) return;
  *it->second->fortran = PMPI_Comm_c2f(it->second->made);
  table().by_request.erase(it);
}

}  // namespace resprout::shim::fortran

using namespace resprout::shim::fortran;

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
