/* Broadcasts of 256 KiB to 8 MiB from each rank in turn, while ranks die in the middle of them.
 *
 *   large OPERATIONS
 *
 * Each rank says of each broadcast whether it has it, all of it and nothing else; 1 if anything is
 * wrong. The root writes its buffer as soon as its call has returned: nobody may read it then. */
#include <mpi.h>
#include <resprout/resprout.h>
#include <stdio.h>
#include <stdlib.h>

enum { steps = 6, longs_min = 32 << 10, longs_max = longs_min << (steps - 1) };

static long buffer[longs_max];

static int contributors(void) {
  MPI_Group group;
  int size;
  resprout_contributors(MPI_COMM_WORLD, &group);
  MPI_Group_size(group, &size);
  MPI_Group_free(&group);
  return size;
}

int main(int argc, char** argv) {
  int rank, size, wrong = 0;
  if (argc < 2) return 2;
  const long operations = strtol(argv[1], NULL, 10);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  for (long operation = 0; operation < operations; ++operation) {
    const int root = (int)(operation % size), count = longs_min << operation * 7 % steps;
    for (int i = 0; i < count; ++i) buffer[i] = rank == root ? operation * 1000 + i : -1;
    const int code = MPI_Bcast(buffer, count, MPI_LONG, root, MPI_COMM_WORLD);
    if (rank == root) buffer[0] = buffer[count - 1] = buffer[count / 2] = -2;
    if (code == MPI_SUCCESS && rank != root)
      for (int i = 0; i < count; ++i) wrong |= buffer[i] != operation * 1000 + i;
    if (contributors() != (code == MPI_SUCCESS)) wrong = 1;
    printf("%d: %ld %s%s\n", rank, operation, code == MPI_SUCCESS ? "is there" : "has failed",
           wrong ? ", WRONG" : "");
  }
  MPI_Finalize();
  return wrong;
}
