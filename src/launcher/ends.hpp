// How processes of the job ended, for the report: lines of the file `ended` in the run directory.
//
//   PID exit STATUS            of the launcher's host
//   PID signal NUMBER
//   rank RANK exit STATUS      of the other hosts, the first job's
//   rank RANK signal NUMBER
//
// Thread rule: from any thread.
#pragma once

#include <sys/types.h>

#include <cstdint>

namespace resprout::launcher {

// `status`: as waitpid has it.
void leave_end(pid_t pid, int status);

// `exit_code`: the status, or 128 + the signal's number.
void leave_end_of_rank(std::uint32_t rank, int exit_code, bool is_killed);

}  // namespace resprout::launcher
