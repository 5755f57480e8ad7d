// The system's clocks, as replicas that are compared or stand in read them: all the same.
//
// A program decides by the time, adds it up with that of other ranks and sends it; replicas that
// read clocks of their own would do different things, or be taken for corrupted. So the replica
// that decides what may differ (decided.hpp) reads them for all: clock_gettime, gettimeofday, time,
// clock, times, getrusage and timespec_get. Before MPI_Init nobody can be asked; there time goes by
// a microsecond a reading, from a moment that the launcher has given to all.
//
// Only what the program reads, on its main thread and outside of MPI's calls: the MPI library has
// clocks of its own, and so have other threads, whose order nobody knows, and the whole program if
// it has asked for MPI_THREAD_MULTIPLE.
//
// Lazy Fault Detection for Redundant MPI, chapter 7, has MPI_Wtime.
#pragma once

namespace resprout::shim {

// Of this process, from when `decided` is there until it is going to be no more. REQUIRES: MPI is
// initialized. Nothing where the launcher has not asked for it (RESPROUT_CLOCKS).
void open_clocks();
void close_clocks();

}  // namespace resprout::shim
