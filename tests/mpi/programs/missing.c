/* Reductions of which some contributions are missing.
 *
 *   missing FOLDER ROUNDS [callback]
 *
 * In round N rank R gives 100 N + R + 1 to an allreduce by MPI_SUM (of integers), and to a reduce
 * to rank 1 by an operator that does not commute; all write `N sum first_of_all` to
 * FOLDER/missing-R, first_of_all only rank 1. `callback`: 1000 (R + 1) stands in for a rank R, but
 * nothing for rank 0. */
#include <mpi.h>
#include <resprout/resprout.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static void first(void* in, void* inout, int* count, MPI_Datatype* type) {
  const int64_t* left = in;
  int64_t* right = inout;
  (void)type;
  for (int i = 0; i < *count; ++i) right[i] = left[i];
}

static int stand_in(MPI_Comm comm, int rank, void* contribution, int count, MPI_Datatype datatype,
                    void* extra) {
  (void)comm;
  if (rank == 0 || datatype != MPI_INT64_T) return 0;
  for (int i = 0; i < count; ++i) ((int64_t*)contribution)[i] = *(int*)extra * (rank + 1);
  return 1;
}

int main(int argc, char** argv) {
  char path[4096];
  int rank, factor = 1000;
  if (argc < 3) return 2;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Op op;
  MPI_Op_create(first, 0, &op);
  snprintf(path, sizeof path, "%s/missing-%d", argv[1], rank);
  FILE* file = fopen(path, "w");
  if (file == NULL) return 1;
  if (argc > 3) resprout_on_missing(MPI_COMM_WORLD, stand_in, &factor);
  for (int64_t round = 1; round <= atoi(argv[2]); ++round) {
    int64_t mine[2], sums[2] = {-1, -1}, first_of_all[2] = {-1, -1};
    mine[0] = mine[1] = 100 * round + rank + 1;
    MPI_Allreduce(mine, sums, 2, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    MPI_Reduce(mine, first_of_all, 2, MPI_INT64_T, op, 1, MPI_COMM_WORLD);
    if (sums[0] != sums[1] || first_of_all[0] != first_of_all[1]) return 1;
    fprintf(file, "%lld %lld %lld\n", (long long)round, (long long)sums[0],
            (long long)first_of_all[0]);
  }
  fclose(file);
  MPI_Op_free(&op);
  MPI_Finalize();
  return 0;
}
