// What one process can learn of another one on the same host, and do to it.
//
// Thread rule: functions without state.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>

#include "runtime/net/fd.hpp"

namespace resprout::runtime {

struct ProcessStatus {
  char state;                // as in /proc/PID/stat: R, S, D, T (stopped), t (traced), Z, X
  std::uint64_t start_time;  // clock ticks since boot: tells a process from its successor by pid
  bool is_killed;            // by a signal: none of its threads will run its program again

  bool is_stopped() const { return state == 'T'; }
  bool is_held() const { return state == 't'; }  // by a debugger
  bool has_ended() const { return state == 'Z' || state == 'X'; }
};

// Empty if there is no such process.
std::optional<ProcessStatus> process_status(pid_t pid);

// Readable from the death of the process on. Not open if there is no such process, or if the kernel
// has no pidfds (before 5.3): then `process_status` must be asked from time to time.
Fd open_process(pid_t pid);

// SIGKILL, through the pidfd where there is one. False: not allowed.
bool end_process(const Fd& pidfd, pid_t pid);

}  // namespace resprout::runtime
