/* Who is left starts others from a communicator that has lost a member: all get an error.
 *
 *   spawn_late      with a rank that is killed at its first MPI_Barrier
 */
#include <mpi.h>
#include <resprout/resprout.h>
#include <stdio.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm parent, children;
  MPI_Comm_get_parent(&parent);
  int rank, class = MPI_SUCCESS;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (parent == MPI_COMM_NULL) {
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Barrier(MPI_COMM_WORLD);
    int code = MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD,
                              &children, MPI_ERRCODES_IGNORE);
    MPI_Error_class(code, &class);
    printf("rank %d: %s\n", rank, class == MPIX_ERR_PROC_FAILED ? "a rank has failed" : "wrong");
  }
  MPI_Finalize();
  return 0;
}
