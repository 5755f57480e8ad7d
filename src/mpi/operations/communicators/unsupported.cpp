// What the MPI library would do for the handle of a derived communicator with one process, and
// wrongly for the communicator: refused by name.
#include "mpi/handles/communicators/communicator.hpp"
#include "mpi/handles/communicators/derived.hpp"
#include "mpi/handles/error_handlers/refusal.hpp"

using namespace resprout::shim;

namespace {

template <typename Native>
int unless_derived(MPI_Comm comm, const char* name, Native native) {
  return is_derived(comm) ? refuse_derived(comm, name) : native();
}

}  // namespace

// Open MPI 4.1 has none of these.
#if !defined(OMPI_MAJOR_VERSION) || OMPI_MAJOR_VERSION >= 5

extern "C" int MPI_Psend_init(const void* buf, int partitions, MPI_Count count,
                              MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                              MPI_Info info, MPI_Request* request) {
  return unless_derived(comm, "psend_init", [&] {
    return PMPI_Psend_init(buf, partitions, count, datatype, dest, tag, comm, info, request);
  });
}

extern "C" int MPI_Precv_init(void* buf, int partitions, MPI_Count count, MPI_Datatype datatype,
                              int source, int tag, MPI_Comm comm, MPI_Info info,
                              MPI_Request* request) {
  return unless_derived(comm, "precv_init", [&] {
    return PMPI_Precv_init(buf, partitions, count, datatype, source, tag, comm, info, request);
  });
}

#endif
