// Calls that are refused on some communicators. Thread rule: from any thread.
#pragma once

#include <mpi.h>

namespace resprout::shim {

// For a call that MPI cannot do on a communicator that was made after a loss: says so in a line,
// and returns MPI_ERR_COMM through the error handler. `name`: the lower-case MPI name.
int refuse_derived(MPI_Comm comm, const char* name);

// For one that makes an inter-communicator after a loss, of which not all who live would be
// members: the same.
int refuse_between(MPI_Comm comm, const char* name);

// For a call that starts processes, where there is nobody to start them: the same with
// MPI_ERR_SPAWN.
int refuse_start(MPI_Comm comm, const char* name);

}  // namespace resprout::shim
