// Where this process is in its program, for the launcher. It compares the replicas of a rank, and
// ends one that stands still while others go on (docs/how-to/stragglers.md); and it says which
// ranks keep others waiting (docs/how-to/hang.md).
//
// A thread of its own, from MPI_Init until the process ends, writes a line into position-<rank> in
// the run directory once a second, in place (python/resprout/launch/positions.py reads it).
// What it says:
//   phase       of the program, as Phase
//   checkpoint  the last that it has taken, by number
//   calls       that it has begun since, but for those that only look whether something is there
//   still_ms    how long all of these have been the same, of time in which the process could run:
//               not while it waited for a core or a disk, or a debugger held it
//   longest_ms  the longest that they were so outside of MPI
//   waits       1: it is inside of MPI, and looks for what others should say
//   pid
//
// Where calls are timed, a process that waits for more than a second leaves waiting-<rank> as well
// (waiting.hpp). One that finds stands-still-<rank> there, and has not moved for a second, ends.
//
// 1. Replicas that do the same have the same phase, checkpoint and calls at the same place of the
//    program.
// 2. A call of MPI that waits has the library, or us, look for progress again and again; the
//    program does not, outside of MPI. So nothing is added to a call.
//
// Thread rule: from the thread that calls MPI.
#pragma once

#include <cstdint>
#include <string>

namespace resprout::shim {

enum class Phase : int {
  starting = 1,  // in MPI_Init
  running = 2,
  ending = 3,  // in MPI_Finalize
  over = 4,
};

// For MPI_Init, before anything else. Nothing unless this is a rank of a job with replicas, or one
// whose calls are timed (--call-timeout).
void begin_position();
// What it asks others for, on its thread.
struct PositionSources {
  std::uint64_t (*calls)();  // so many were begun
  // The thread that waits, inside of a call, leaves word for whom, in this file.
  void (*describe_waiting)(const std::string& path, std::uint64_t calls);
};
// From ending on the other one. REQUIRES, of the first: MPI is initialized.
void note_running(const PositionSources& sources);
void note_phase(Phase phase);
// This thread waits for others: inside of a call, in a loop of ours.
void note_waiting();
// It is at its next checkpoint; and is through it, by this number.
void note_checkpoint_begun();
void note_checkpoint(std::uint64_t number);

}  // namespace resprout::shim
