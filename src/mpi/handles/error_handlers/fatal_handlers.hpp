// Fatal error handlers of windows and files.
//
// Those of the MPI library end its process and leave it to the launcher to end the job. In a job
// that goes on after a loss that is one more loss, and others may wait for the dead without end. So
// a handler of our own stands in the place of a fatal one: it ends the job, but for a loss, which
// is as little fatal there as on communicators (errors.hpp). Programs set and get their own.
//
// Thread rule: from any thread.
#pragma once

#include <mpi.h>

namespace resprout::shim {

// MPI has made the window, with the handler that windows begin with.
void replace_fatal_handler(MPI_Win window);

}  // namespace resprout::shim
