// From which threads MPI may be called.
#pragma once

namespace resprout::shim {

// MPI may be called from any thread at any time (MPI_THREAD_MULTIPLE).
bool may_call_mpi_anywhere();

}  // namespace resprout::shim
