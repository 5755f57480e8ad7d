/* How long a checkpoint takes, beside a plain copy of the same memory; and when data are back.
 *
 *   checkpoint_times [MIB [TIMES]]
 *
 * Each rank protects so many MiB, and says for each checkpoint but the first two, which make room:
 *   took RANK COPY_NS CHECKPOINT_NS
 * and, in each life, when the first checkpoint has come back:
 *   back LIFE RANK PID UNIX_NS
 * The first life then waits to be killed.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "resprout/resprout.h"

static long long now_ns(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

int main(int count, char** words) {
  MPI_Init(&count, &words);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const size_t bytes = (count > 1 ? strtoul(words[1], NULL, 10) : 64) << 20;
  const int times = count > 2 ? atoi(words[2]) : 10;
  const char* restart = getenv("RESPROUT_RESTART");
  const int life = restart != NULL ? atoi(restart) : 0;
  char* data = malloc(bytes);
  char* copy = malloc(bytes);
  if (data == NULL || copy == NULL || !resprout_protect) return 91;
  memset(data, rank + 1, bytes);
  memset(copy, 0, bytes);
  resprout_protect(data, bytes);
  resprout_checkpoint();
  printf("back %d %d %d %lld\n", life, rank, (int)getpid(), now_ns(CLOCK_REALTIME));
  fflush(stdout);
  for (int i = 0; life == 0 && i < times; ++i) {
    memset(data, rank + i, bytes);
    MPI_Barrier(MPI_COMM_WORLD);
    const long long began = now_ns(CLOCK_MONOTONIC);
    memcpy(copy, data, bytes);
    const long long copied = now_ns(CLOCK_MONOTONIC) - began;
    MPI_Barrier(MPI_COMM_WORLD);
    const long long again = now_ns(CLOCK_MONOTONIC);
    resprout_checkpoint();
    const long long kept = now_ns(CLOCK_MONOTONIC) - again;
    if (i > 0) printf("took %d %lld %lld\n", rank, copied, kept);
    fflush(stdout);
  }
  if (life == 0) {
    printf("idle %d\n", rank);
    fflush(stdout);
    sleep(60);
  }
  MPI_Finalize();
  return 0;
}
