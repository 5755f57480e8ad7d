// Rank 1 dies in MPI_Finalize, from where its attribute of MPI_COMM_SELF is deleted. The others say
// that they are through.
#include <mpi.h>
#include <signal.h>
#include <stdio.h>

static int rank;

static int die(MPI_Comm comm, int key, void* value, void* extra) {
  (void)comm, (void)key, (void)value, (void)extra;
  if (rank == 1) raise(SIGKILL);
  return MPI_SUCCESS;
}

int main(int argc, char** argv) {
  int key;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, die, &key, NULL);
  MPI_Comm_set_attr(MPI_COMM_SELF, key, &rank);
  MPI_Finalize();
  printf("rank %d is through\n", rank);
  return 0;
}
