// A computation that goes back to its last checkpoint where it is told to. Each step uses the ways
// of MPI whose outcomes replicas have to agree on. Rank 0 says a line for each step; all say their
// result, which depends on none of them; what does is protected, too.
//
//   checkpoints [STEPS] [MILLISECONDS] [FOLDER]
//
// A step takes so long at least; step 3 does not begin while there is a file FOLDER/wait-3.
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "resprout/resprout.h"

enum { cells = 64 };

static int rank, size;
static struct State {
  int64_t step;
  uint64_t sum;
  uint64_t order;  // of what may happen in any
  uint64_t field[cells];
} state;

static void exchange(void) {
  uint64_t from_left[cells];
  MPI_Sendrecv(state.field, cells, MPI_UINT64_T, (rank + 1) % size, 1, from_left, cells,
               MPI_UINT64_T, (rank + size - 1) % size, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int i = 0; i < cells; ++i) state.field[i] = state.field[i] * 5 + from_left[i] + i;
}

// Rank 0 takes from whoever comes first.
static void gather_in_any_order(void) {
  uint64_t value = state.field[3];
  if (rank != 0) {
    MPI_Send(&value, 1, MPI_UINT64_T, 0, 2, MPI_COMM_WORLD);
    return;
  }
  for (int i = 1; i < size; ++i) {
    MPI_Status status;
    MPI_Recv(&value, 1, MPI_UINT64_T, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &status);
    state.field[0] += value * (uint64_t)status.MPI_SOURCE;
    state.order = state.order * 31 + (uint64_t)status.MPI_SOURCE;
  }
}

// How often a request is not complete is different each time.
static void exchange_tested(void) {
  uint64_t got = 0;
  int done = 0;
  MPI_Request request;
  MPI_Irecv(&got, 1, MPI_UINT64_T, (rank + 1) % size, 3, MPI_COMM_WORLD, &request);
  MPI_Send(&state.field[7], 1, MPI_UINT64_T, (rank + size - 1) % size, 3, MPI_COMM_WORLD);
  uint64_t asked = 0;
  for (; !done; ++asked) MPI_Test(&request, &done, MPI_STATUS_IGNORE);
  state.field[1] += got;
  state.order += asked;
}

// A communicator that lives for a step.
static void reduce(void) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  uint64_t mine = 0;
  for (int i = 0; i < cells; ++i) mine = mine * 3 + state.field[i];
  MPI_Allreduce(&mine, &state.sum, 1, MPI_UINT64_T, MPI_SUM, comm);
  state.field[2] ^= state.sum;
  MPI_Comm_free(&comm);
}

static void wait_at_gate(const char* folder) {
  const struct timespec moment = {0, 5000000};
  char name[4096];
  snprintf(name, sizeof name, "%s/wait-%lld", folder, (long long)state.step + 1);
  while (access(name, F_OK) == 0) nanosleep(&moment, NULL);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int steps = argc > 1 ? atoi(argv[1]) : 6;
  const struct timespec pause = {0, (argc > 2 ? atol(argv[2]) : 0) * 1000000};
  for (int i = 0; i < cells; ++i) state.field[i] = (uint64_t)(rank * cells + i);
  if (resprout_protect) resprout_protect(&state, sizeof state);
  for (;;) {
    if (resprout_checkpoint) resprout_checkpoint();
    if (state.step == steps) break;
    nanosleep(&pause, NULL);
    if (argc > 3) wait_at_gate(argv[3]);
    exchange();
    gather_in_any_order();
    exchange_tested();
    reduce();
    ++state.step;
    if (rank == 0) {
      printf("step %lld\n", (long long)state.step);
      fflush(stdout);
    }
  }
  printf("rank %d: %llu\n", rank, (unsigned long long)state.sum);
  MPI_Finalize();
  return 0;
}
