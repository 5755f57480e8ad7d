#include "shim/calls_mutex.hpp"

#include <mpi.h>

namespace resprout::shim {

void CallsMutex::note_thread_level() {
  int level = MPI_THREAD_MULTIPLE;
  PMPI_Query_thread(&level);
  may_overlap.store(level == MPI_THREAD_MULTIPLE);
}

}  // namespace resprout::shim
