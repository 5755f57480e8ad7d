#include "mpi/process/thread_level.hpp"

#include <mpi.h>

namespace resprout::shim {

bool may_call_mpi_anywhere() {
  static const bool value = [] {
    int provided = MPI_THREAD_SINGLE;
    PMPI_Query_thread(&provided);
    return provided == MPI_THREAD_MULTIPLE;
  }();
  return value;
}

}  // namespace resprout::shim
