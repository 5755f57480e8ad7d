// A computation with checkpoints: what is wrong goes on into all that follows, unless one goes
// back.
//
//   steps STEPS
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

// Of resprout.h; null without Resprout.
int resprout_protect(void* begin, size_t bytes) __attribute__((weak));
int resprout_checkpoint(void) __attribute__((weak));

enum { cells = 512 };

// The number of the step is not in it: a plane that takes another step than its own ranks expect
// may wait for ever, and has no further checkpoint.
static uint64_t field[cells];

static void step(int rank, int ranks) {
  uint64_t left[cells];
  MPI_Sendrecv(field, cells, MPI_UINT64_T, (rank + 1) % ranks, 0, left, cells, MPI_UINT64_T,
               (rank + ranks - 1) % ranks, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  uint64_t sum = 0;
  for (int i = 0; i < cells; ++i) sum += field[i] * (uint64_t)(2 * i + 1);
  uint64_t all = 0;
  MPI_Allreduce(&sum, &all, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < cells; ++i) field[i] = field[i] * 5 + left[(i + 1) % cells] + all;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int steps = argc == 2 ? (int)strtol(argv[1], NULL, 10) : 0;
  for (int i = 0; i < cells; ++i) field[i] = (uint64_t)(rank * cells + i);
  int done = 0;
  if (resprout_protect) {
    resprout_protect(field, sizeof field);
    resprout_protect(&done, sizeof done);
  }
  for (;;) {
    if (resprout_checkpoint) resprout_checkpoint();
    if (done >= steps) break;
    step(rank, ranks);
    ++done;
  }
  uint64_t digest = 0;
  for (int i = 0; i < cells; ++i) digest = digest * 31 + field[i];
  uint64_t all = 0;
  MPI_Allreduce(&digest, &all, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  if (rank == 0) printf("steps digest=%016llx\n", (unsigned long long)all);
  return 0;
}
