/* A message in a communicator that its receiver, the last rank, has given back already: the library
 * keeps it for one of that number. Rank 1 is to be killed as it enters the second barrier; then the
 * receiver makes a communicator of its own process, of which the sender is no member.
 */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  MPI_Comm all, alone;
  int rank, size, one = 1;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int sender = size - 2, receiver = size - 1;
  MPI_Comm_dup(MPI_COMM_WORLD, &all);
  if (rank == receiver) PMPI_Comm_free(&all);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == sender) {
    PMPI_Send(&one, 1, MPI_INT, receiver, 0, all);
    MPI_Send(&one, 1, MPI_INT, receiver, 0, MPI_COMM_WORLD);
  }
  if (rank == receiver) MPI_Recv(&one, 1, MPI_INT, sender, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Comm_dup(MPI_COMM_SELF, &alone);
  MPI_Comm_free(&alone);
  printf("rank %d is done\n", rank);
  MPI_Finalize();
  return 0;
}
