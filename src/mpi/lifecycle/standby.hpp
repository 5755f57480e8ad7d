// The next life of a job, started before it is needed (`--on-loss restart --standby`): its ranks
// wait at the end of MPI_Init, until the launcher has seen the life before end.
//
// Then there is a file `needed` in the run directory, and nobody holds its pipe `gate` any more:
// that wakes all at once (python/resprout/launch/lives/standby.py). If the launcher is gone there
// is no such file: these processes wait until they are ended, too.
//
// Thread rule: the thread that calls MPI_Init.
#pragma once

#include <string>

namespace resprout::shim {

// Whether this rank does. `environment`: as the launcher has set it.
bool stands_by(char** environment);
// REQUIRES: it does.
void wait_until_needed(const std::string& run_directory);

}  // namespace resprout::shim
