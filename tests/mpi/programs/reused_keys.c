/* Attributes of a communicator that is gone, and whose keys are gone, are nobody's business: not of
 * the next communicator that has its handle.
 */
#include <mpi.h>
#include <stdio.h>

static int heard;

static void hear(MPI_Comm* comm, int* code, ...) {
  (void)comm, (void)code;
  ++heard;
}

int main(int argc, char** argv) {
  MPI_Comm made[8];
  MPI_Errhandler handler;
  int key, rank, value = 7;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_create_errhandler(hear, &handler);
  for (int round = 0; round < 20; ++round) {
    const int has_key = round % 2 == 0;
    if (has_key) MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    for (int i = 0; i < 8; ++i) {
      MPI_Comm dup;
      MPI_Comm_dup(MPI_COMM_WORLD, &made[i]);
      MPI_Comm_set_errhandler(made[i], handler);
      MPI_Comm_dup(made[i], &dup);
      MPI_Comm_free(&dup);
      if (has_key) MPI_Comm_set_attr(made[i], key, &value);
    }
    for (int i = 0; i < 8; ++i) MPI_Comm_free(&made[i]);
    if (has_key) MPI_Comm_free_keyval(&key);
  }
  MPI_Errhandler_free(&handler);
  if (heard != 0) fprintf(stderr, "WRONG: rank %d heard of %d errors\n", rank, heard);
  if (rank == 0) printf("nobody heard of an error\n");
  MPI_Finalize();
  return heard != 0;
}
