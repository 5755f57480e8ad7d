/* Rank 1 sends a message to rank 0, and all add ones. Rank 0, if told `stubborn`, asks for
   it again and again, whatever it is told. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char** argv) {
  int rank, one = 1, sum = 0, token = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  if (rank == 1) MPI_Send(&one, 1, MPI_INT, 0, 7, MPI_COMM_WORLD);
  if (rank == 0) {
    const int is_stubborn = argc > 1 && strcmp(argv[1], "stubborn") == 0;
    while (MPI_Recv(&token, 1, MPI_INT, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE) != MPI_SUCCESS &&
           is_stubborn) {
    }
  }
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("sum %d\n", sum);
  MPI_Finalize();
  return 0;
}
