/* Rank 0 begins to send, and enters a collective that rank 1 will not enter before it has received:
 * the message has to be on its way while its sender waits there.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { count = 4 << 20 };

int main(int argc, char** argv) {
  int rank;
  double sum = 0;
  double one = 1;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int* data = calloc(count, sizeof *data);
  for (int round = 0; round < 3; ++round) {
    if (rank == 0) MPI_Isend(data, count, MPI_INT, 1, 0, MPI_COMM_WORLD, &request);
    if (rank == 1) MPI_Recv(data, count, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  free(data);
  MPI_Finalize();
  if (rank == 0) printf("the sum is %g\n", sum);
  return 0;
}
