#include "mpi/handles/openmpi/making_windows.hpp"

#include <dlfcn.h>
#include <mpi.h>

#include "mpi/handles/communicators/carrier_pool.hpp"
#include "mpi/handles/openmpi/making.hpp"

using namespace resprout::shim;

// By which the library duplicates, for others and for itself.
extern "C" int ompi_comm_dup(MPI_Comm comm, MPI_Comm* made) {
  using Duplicate = int (*)(MPI_Comm, MPI_Comm*);
  static const auto duplicate = reinterpret_cast<Duplicate>(dlsym(RTLD_NEXT, "ompi_comm_dup"));
  MakingWindow* const window = MakingWindow::take_current();
  const int code = duplicate(comm, made);
  if (window == nullptr) return code;
  if (code != MPI_SUCCESS) end_turn();
  if (!window->agree(code != MPI_SUCCESS)) return code;
  note_broken_making();
  return duplicate(MPI_COMM_SELF, made);
}
