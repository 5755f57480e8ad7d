// The system's clocks, as replicas that are compared or stand in read them: all the same
// (system_answers.hpp). They are clock_gettime, gettimeofday, time, clock, times, getrusage and
// timespec_get. Before MPI_Init time goes by a microsecond a reading, from a moment that the
// launcher has given to all.
//
// Lazy Fault Detection for Redundant MPI, chapter 7, has MPI_Wtime.
#pragma once

namespace resprout::shim {

// Of this process, from when `decided` is there until it is going to be no more. REQUIRES: MPI is
// initialized. Nothing where the launcher has not asked for it (RESPROUT_CLOCKS).
void open_clocks();
void close_clocks();

}  // namespace resprout::shim
