/* The stencil of stencil.c, with checkpoints in memory that outlives the processes.
 *
 *   memory [STEPS [EVERY [MICROSECONDS]]]
 *
 * Under `resprout run --on-loss restart` it goes on from the last checkpoint when it is started
 * again; else it runs as it is. MICROSECONDS: how long a step takes at least. The last line is the
 * same to the last bit, however often it was started again.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "resprout/resprout.h"

enum { cells = 1000 };

/* The process's own cells stand between those of its neighbors. */
static double field[cells + 2], next[cells + 2];
static long step;
static int rank, ranks;

static void make_step(void) {
  const int left = rank > 0 ? rank - 1 : MPI_PROC_NULL;
  const int right = rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL;
  MPI_Sendrecv(&field[1], 1, MPI_DOUBLE, left, 0, &field[cells + 1], 1, MPI_DOUBLE, right, 0,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Sendrecv(&field[cells], 1, MPI_DOUBLE, right, 1, &field[0], 1, MPI_DOUBLE, left, 1,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int i = 1; i <= cells; ++i) next[i] = 0.25 * (field[i - 1] + 2 * field[i] + field[i + 1]);
  for (int i = 1; i <= cells; ++i) field[i] = next[i];
}

int main(int count, char** words) {
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const long steps = count > 1 ? atol(words[1]) : 2000;
  const long every = count > 2 ? atol(words[2]) : 100;
  const useconds_t pause = count > 3 ? (useconds_t)atol(words[3]) : 0;

  if (rank == ranks / 2) field[cells / 2] = 1000;
  if (resprout_protect) {
    resprout_protect(&step, sizeof step);
    resprout_protect(field, sizeof field);
  }
  for (int is_first = 1;; is_first = 0) {
    if (resprout_checkpoint && step % every == 0) resprout_checkpoint();
    if (is_first && rank == 0) printf("begins at step %ld\n", step), fflush(stdout);
    if (step == steps) break;
    if (pause > 0) usleep(pause);
    make_step();
    ++step;
  }
  double own = 0, heat = 0, place = 0;
  for (int i = 1; i <= cells; ++i) own += field[i] * (1.0 + rank * (double)cells + i);
  MPI_Reduce(&own, &place, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  own = 0;
  for (int i = 1; i <= cells; ++i) own += field[i] * field[i];
  MPI_Reduce(&own, &heat, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("after %ld steps: %a %a\n", steps, heat, place);
  MPI_Finalize();
  return 0;
}
