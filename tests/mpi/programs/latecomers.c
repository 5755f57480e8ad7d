/* Ranks that do not come: argument 1 says how.
   computes   rank 2 computes for ever; the others meet in a barrier, then in an allreduce
   chain      rank 2 waits for a message of rank 3, which computes; the others meet in a barrier
   deadlock   rank 0 is in a barrier, the others wait for a message of it
   late       rank 2 comes four seconds late */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void compute_for_ever(void) {
  for (volatile unsigned n = 0;; ++n) {
  }
}

int main(int argc, char** argv) {
  int rank, size, one = 1, sum = 0;
  const char* how = argc > 1 ? argv[1] : "";
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Barrier(MPI_COMM_WORLD);
  if (strcmp(how, "computes") == 0 && rank == 2) compute_for_ever();
  if (strcmp(how, "chain") == 0 && rank == 3) compute_for_ever();
  if ((strcmp(how, "chain") == 0 && rank == 2) || (strcmp(how, "deadlock") == 0 && rank != 0))
    MPI_Recv(&one, 1, MPI_INT, rank == 2 && how[0] == 'c' ? 3 : 0, 7, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
  if (strcmp(how, "late") == 0 && rank == 2) sleep(4);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("sum %d\n", sum);
  MPI_Finalize();
  return 0;
}
