// Included before a kernel, whose source stays as it is: all processes of a run begin at once,
// whichever MPI job they belong to, and leave when they began and were through.
//
// REPLICATION_CLOCK names a file that all map: one counter of those who have come, then three times
// for each process, in the order of their places (replica * ranks + rank), which are
// CLOCK_MONOTONIC in nanoseconds: through MPI_Init, entering MPI_Finalize, through it.
// REPLICATION_PROCESSES of them wait for each other after MPI_Init. Without the variables nothing
// is done.
//
// What a kernel says leaves at its exit, when MPI_Finalize has verified all that it comes from.
#ifndef RESPROUT_BENCH_REPLICATION_CLOCK_H
#define RESPROUT_BENCH_REPLICATION_CLOCK_H

#ifndef _GNU_SOURCE
#  define _GNU_SOURCE
#endif
#include <fcntl.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { clock_words = 3, clock_seconds_max = 120 };

static int64_t* clock_times;  // of this process; null: nobody asks

// This process's own time: what clock_gettime tells replicas may be that of one of them.
static inline int64_t clock_now(void) {
  struct timespec now;
  syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static inline void clock_fail(const char* why) {
  fprintf(stderr, "bench: %s\n", why);
  MPI_Abort(MPI_COMM_WORLD, 2);
}

static inline void clock_await_all(int64_t* arrived, int64_t processes) {
  __atomic_fetch_add(arrived, 1, __ATOMIC_SEQ_CST);
  const struct timespec pause = {0, 200000};
  const int64_t deadline = clock_now() + (int64_t)clock_seconds_max * 1000000000;
  while (__atomic_load_n(arrived, __ATOMIC_SEQ_CST) < processes) {
    if (clock_now() > deadline) clock_fail("not all processes have come through MPI_Init");
    nanosleep(&pause, NULL);
  }
}

static inline int clock_init(int* argc, char*** argv) {
  setvbuf(stdout, NULL, _IOFBF, BUFSIZ);
  const int error = MPI_Init(argc, argv);
  const char* path = getenv("REPLICATION_CLOCK");
  const char* count = getenv("REPLICATION_PROCESSES");
  if (error != MPI_SUCCESS || path == NULL || count == NULL) return error;
  const char* replica = getenv("RESPROUT_REPLICA");
  int rank = 0;
  int ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int64_t processes = strtol(count, NULL, 10);
  const int64_t place = (replica != NULL ? strtol(replica, NULL, 10) : 0) * ranks + rank;
  const size_t bytes = (size_t)(1 + clock_words * processes) * sizeof(int64_t);
  const int fd = place < processes ? open(path, O_RDWR) : -1;
  int64_t* map = fd < 0 ? MAP_FAILED : mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (map == MAP_FAILED) {
    clock_fail("the file of times cannot be mapped");
    return error;
  }
  close(fd);
  clock_times = map + 1 + clock_words * place;
  clock_times[0] = clock_now();
  clock_await_all(map, processes);
  return error;
}

static inline int clock_finalize(void) {
  if (clock_times != NULL) clock_times[1] = clock_now();
  const int error = MPI_Finalize();
  if (clock_times != NULL) clock_times[2] = clock_now();
  return error;
}

#define MPI_Init clock_init
#define MPI_Finalize clock_finalize

#endif
