/* starts_another COMMAND...: rank 0 runs a command in the midst of its job, as system() does. */
#include <mpi.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char** argv) {
  int rank, status = 0, one = 1, all = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    const pid_t child = fork();
    if (child == 0) {
      execvp(argv[1], argv + 1);
      _exit(127);
    }
    waitpid(child, &status, 0);
  }
  MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("outer: %d, inner status %d\n", all, WEXITSTATUS(status));
  MPI_Finalize();
  return 0;
}
