// A program of a user: says how many ranks are in the sums that it makes.
#include <mpi.h>
#include <resprout/resprout.h>
#include <stdio.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, sum = 0, count = -1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int one = 1;
  for (int i = 0; i < 3; ++i) MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Group group = MPI_GROUP_NULL;
  if (resprout_contributors && resprout_contributors(MPI_COMM_WORLD, &group) == MPI_SUCCESS) {
    MPI_Group_size(group, &count);
    MPI_Group_free(&group);
  }
  if (rank == 1) printf("sum %d of %d\n", sum, count);
  MPI_Finalize();
  return 0;
}
