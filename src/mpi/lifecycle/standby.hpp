// The next life of a job, started before it is needed (`--on-loss restart --standby`): its ranks
// wait at the end of MPI_Init, until the launcher has seen the life before end.
//
// `go`, a pipe in the run directory, has a byte for each rank then
// (python/resprout/launch/lives/standby.py). If the launcher is gone nobody writes to it any more:
// these processes wait until they are ended, too.
//
// Thread rule: the thread that calls MPI_Init.
#pragma once

#include <string>

namespace resprout::shim {

// `environment`: as the launcher has set it. Nothing, unless this rank stands by.
void wait_until_needed(char** environment, const std::string& run_directory);

}  // namespace resprout::shim
