// What the launcher has put into a rank's environment is for this rank, and not for what the rank
// starts: another MPI job, a compiler, a shell. A script around the program hands it on; the first
// call that starts MPI takes it away.
//
// Thread rule: in calls that start MPI, as these have it.
#pragma once

namespace resprout::shim {

// Takes libresprout.so out of LD_PRELOAD, and our variables away, at the first call. Gives what
// these were, `NAME=value` each, null after the last: the same at every call.
char** take_environment();

// This process is a rank of another job than that for which the launcher has set the variables: a
// rank has started it, with a copy of what it had itself.
bool is_of_other_job();

}  // namespace resprout::shim
