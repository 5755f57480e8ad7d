// A computation whose ranks protect much, and take a checkpoint in each step, so that who is killed
// is killed in the middle of one as often as not.
//
//   lasting [STEPS [KIB [FOLDER]]]
//
// Each rank protects so many KiB that change, and as many that do not. In FOLDER it leaves the
// number of the step that it is in, in step-RANK, and does not begin step 3 while there is a file
// wait-3. The last line depends on all bits of all ranks, and on nothing else.
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "resprout/resprout.h"

static int rank, ranks;
static struct State {
  int64_t step;
  uint64_t sum;
} state;

static void say_step(const char* folder) {
  char name[4096];
  snprintf(name, sizeof name, "%s/step-%d", folder, rank);
  FILE* file = fopen(name, "w");
  if (file == NULL || fprintf(file, "%lld\n", (long long)state.step) < 0 || fclose(file) != 0)
    exit(90);
  snprintf(name, sizeof name, "%s/wait-%lld", folder, (long long)state.step);
  while (access(name, F_OK) == 0) usleep(5000);
}

static void advance(uint64_t* field, const uint64_t* table, size_t words) {
  uint64_t from_left = 0;
  MPI_Sendrecv(&field[words - 1], 1, MPI_UINT64_T, (rank + 1) % ranks, 1, &from_left, 1,
               MPI_UINT64_T, (rank + ranks - 1) % ranks, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  uint64_t own = from_left;
  for (size_t i = 0; i < words; ++i)
    own = field[i] = field[i] * 6364136223846793005u + own + table[i];
  MPI_Allreduce(MPI_IN_PLACE, &own, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  state.sum = state.sum * 31 + own;
  ++state.step;
}

int main(int count, char** arguments) {
  MPI_Init(&count, &arguments);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int64_t steps = count > 1 ? atoll(arguments[1]) : 20;
  const size_t words = (count > 2 ? (size_t)atoll(arguments[2]) : 1024) * 1024 / sizeof(uint64_t);
  const char* folder = count > 3 ? arguments[3] : NULL;
  uint64_t* field = malloc(words * sizeof *field);
  uint64_t* table = malloc(words * sizeof *table);
  if (field == NULL || table == NULL) return 91;
  for (size_t i = 0; i < words; ++i) field[i] = i + (uint64_t)rank;
  for (size_t i = 0; i < words; ++i) table[i] = i * i;
  if (resprout_protect) {
    resprout_protect(&state, sizeof state);
    resprout_protect(field, words * sizeof *field);
    resprout_protect(table, words * sizeof *table);
  }
  for (int is_first = 1;; is_first = 0) {
    if (resprout_checkpoint) resprout_checkpoint();
    if (is_first && rank == 0) printf("begins at step %lld\n", (long long)state.step);
    fflush(stdout);
    if (folder != NULL) say_step(folder);
    if (state.step == steps) break;
    advance(field, table, words);
  }
  if (rank == 0) printf("result %016llx\n", (unsigned long long)state.sum);
  free(field);
  free(table);
  MPI_Finalize();
  return 0;
}
