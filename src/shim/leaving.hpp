// A process that ends without MPI_Finalize while the job goes on.
//
// For Open MPI's runtime only a death by signal is a failure that it tells the others about; after
// an `exit` their MPI_Finalize waits for ever. So such an exit ends as a SIGKILL, after the
// program's own exit handlers and with its output flushed.
#pragma once

namespace resprout::shim {

// Once, in MPI_Init, before other exit handlers of ours. Thread rule: any.
void watch_for_leaving();

}  // namespace resprout::shim
