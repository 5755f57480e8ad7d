/* Allreduces of 3 MiB, in place and not, while ranks die in the middle of them.
 *
 *   slices OPERATIONS
 *
 * Rank R contributes 2^R in all elements, so each element of a result says who is in it: the same
 * ones everywhere, those whom resprout_contributors names, and never one who was missing before.
 * Each rank says the operation and the sum of each change, and the last; 1 if anything is wrong. */
#include <mpi.h>
#include <resprout/resprout.h>
#include <stdio.h>
#include <stdlib.h>

enum { count = 3 << 17 };

static long mine[count], all[count];

static long contributors(void) {
  MPI_Group group, world;
  int size, ranks[64], indices[64];
  long sum = 0;
  resprout_contributors(MPI_COMM_WORLD, &group);
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_size(group, &size);
  for (int i = 0; i < size; ++i) indices[i] = i;
  MPI_Group_translate_ranks(group, size, indices, world, ranks);
  for (int i = 0; i < size; ++i) sum += 1L << ranks[i];
  MPI_Group_free(&world);
  MPI_Group_free(&group);
  return sum;
}

int main(int argc, char** argv) {
  int rank, size, wrong = 0;
  if (argc < 2) return 2;
  const long operations = strtol(argv[1], NULL, 10);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  long before = (1L << size) - 1;
  for (int i = 0; i < count; ++i) mine[i] = 1L << rank;
  for (long operation = 0; operation < operations; ++operation) {
    if (operation % 2 == 0) {
      MPI_Allreduce(mine, all, count, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    } else {
      for (int i = 0; i < count; ++i) all[i] = mine[i];
      MPI_Allreduce(MPI_IN_PLACE, all, count, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    }
    for (int i = 0; i < count; ++i)
      if (all[i] != all[0] || mine[i] != 1L << rank) wrong = 1;
    if ((all[0] & ~before) != 0 || (all[0] & (1L << rank)) == 0) wrong = 1;
    if (contributors() != all[0]) wrong = 1;
    if (all[0] != before || operation == operations - 1)
      printf("%d: %ld of operation %ld%s\n", rank, all[0], operation, wrong ? ", WRONG" : "");
    before = all[0];
  }
  MPI_Finalize();
  return wrong;
}
