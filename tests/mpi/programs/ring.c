/* A token goes round and round; who has lost the neighbour it comes from sends a last one, after
 * which everybody stops. Its results are of no interest, its calls are: faults come about on
 * entering them.
 */
#include <mpi.h>
#include <stdio.h>

enum { stop = -1 };

int main(int argc, char** argv) {
  int rank, size, token = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int right = (rank + 1) % size, left = (rank + size - 1) % size;
  for (int round = 0; round < 100 && token != stop; ++round) {
    if (rank == 0) MPI_Send(&token, 1, MPI_INT, right, 0, MPI_COMM_WORLD);
    if (MPI_Recv(&token, 1, MPI_INT, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE) != MPI_SUCCESS)
      token = stop;
    if (rank != 0 || token == stop) MPI_Send(&token, 1, MPI_INT, right, 0, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  printf("rank %d is through\n", rank);
  return 0;
}
