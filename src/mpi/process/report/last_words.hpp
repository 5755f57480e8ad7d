// How this process ended, for the launcher: mpirun does not tell, once it lets ranks die.
//
// A rank's process leaves its exit status as exit-<rank> in the run directory, whether it ever was
// an MPI program or not. One that leaves none was killed by a signal, and signal-<rank> says by
// which, where it was one of those that a mistake of the program leads to. Which process is the
// rank's own, and not a child of it, stands in started-<rank>, where the launcher has put its id.
// One that a broken invariant of ours ends says so on stderr (core/invariant.hpp).
#pragma once

namespace resprout::shim {

// For a thread that is about to end the process without its exit handlers; `exit` needs no such
// call. Thread rule: any
// thread, signal handlers too.
void leave_status(int status);

// Which signal is about to end this process. Thread rule: as above.
void leave_signal(int signal);

// Of the job, as its launcher has told this process; null: it is none.
const char* rank_in_environment();

}  // namespace resprout::shim
