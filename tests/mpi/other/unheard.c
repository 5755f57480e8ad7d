// Messages whose receiver waits in a collective, and does not look for them before: more than MPICH
// has cells for.
#include <mpi.h>
#include <stdio.h>

enum { count = 3000 };

int main(int argc, char** argv) {
  int rank, got = -1, right = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; rank == 0 && i < count; ++i) MPI_Send(&i, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; rank == 1 && i < count; ++i) {
    MPI_Recv(&got, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    right += got == i;
  }
  if (rank == 1) printf("%d are right\n", right);
  MPI_Finalize();
  return 0;
}
