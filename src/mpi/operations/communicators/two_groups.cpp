// Communicators that the MPI library makes of two groups, or of a group alone. What it does about a
// loss meanwhile is up to it; the session of what it has made is ours.
#include <mpi.h>

#include "mpi/handles/communicators/common_name.hpp"
#include "mpi/handles/error_handlers/errors.hpp"
#include "mpi/process/world.hpp"

using namespace resprout::shim;

extern "C" int MPI_Intercomm_merge(MPI_Comm intercomm, int high, MPI_Comm* newintracomm) {
  const int code = PMPI_Intercomm_merge(intercomm, high, newintracomm);
  if (code != MPI_SUCCESS) return code;
  return finish(intercomm, "intercomm_merge", open_by_common_name(*newintracomm));
}

// Open MPI 4.1 has no sessions.
#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)

// It inherits no error handler, and so none that looks at losses.
extern "C" int MPI_Comm_create_from_group(MPI_Group group, const char* stringtag, MPI_Info info,
                                          MPI_Errhandler errhandler, MPI_Comm* newcomm) {
  const TaggedMaking making(group, stringtag);
  const int code = PMPI_Comm_create_from_group(group, stringtag, info, errhandler, newcomm);
  if (code != MPI_SUCCESS || World::current() == nullptr || *newcomm == MPI_COMM_NULL) return code;
  MPI_Comm_set_errhandler(*newcomm, errhandler);
  making.open(*newcomm);
  return code;
}

#endif
