// Whether MPI may be asked anything of a communicator: from MPI_Init to MPI_Finalize.
//
// Thread rule: any thread.
#pragma once

#include <mpi.h>

namespace resprout::shim {

inline bool is_mpi_running() {
  int has_begun = 0;
  int has_ended = 0;
  PMPI_Initialized(&has_begun);
  PMPI_Finalized(&has_ended);
  return has_begun != 0 && has_ended == 0;
}

}  // namespace resprout::shim
