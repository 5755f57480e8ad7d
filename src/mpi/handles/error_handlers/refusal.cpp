#include "mpi/handles/error_handlers/refusal.hpp"

#include <cctype>
#include <cstdio>

#include "mpi/handles/error_handlers/errors.hpp"
#include "mpi/process/call_policy.hpp"
#include "mpi/process/names.hpp"
#include "mpi/process/world.hpp"

namespace resprout::shim {

int refuse_derived(MPI_Comm comm, const char* name) {
  call_policy().on_failure(mpi_name_of(name),
                           "does not work on a communicator that was made after a loss");
  std::fprintf(stderr,
               "resprout: rank %d: MPI_%c%s does not work on a communicator that was made after a "
               "loss (docs/reference/calls.md)\n",
               World::current()->rank(), std::toupper(name[0]), name + 1);
  return finish(comm, name, MPI_ERR_COMM);
}

int refuse_between(MPI_Comm comm, const char* name) {
  call_policy().on_failure(mpi_name_of(name), "makes no inter-communicator after a loss");
  std::fprintf(
      stderr,
      "resprout: rank %d: MPI_%c%s makes no inter-communicator after a loss unless all who "
      "live are in it (docs/reference/after-a-loss.md)\n",
      World::current()->rank(), std::toupper(name[0]), name + 1);
  return finish(comm, name, MPI_ERR_COMM);
}

int refuse_start(MPI_Comm comm, const char* name) {
  std::fprintf(stderr,
               "resprout: rank %d: MPI_%c%s does not work here: what starts the ranks of MPICH and "
               "Intel MPI starts no others (docs/reference/mpi-libraries.md)\n",
               World::current()->rank(), std::toupper(name[0]), name + 1);
  return finish(comm, name, MPI_ERR_SPAWN);
}

}  // namespace resprout::shim
