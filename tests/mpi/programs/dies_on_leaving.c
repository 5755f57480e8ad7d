// Each rank says a line. Rank 0 of replica 0 dies after exit(), before what it said is written.
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int dies = 0;

__attribute__((destructor)) static void leave(void) {
  if (dies) raise(SIGKILL);
}

int main(int argc, char** argv) {
  int rank = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const char* replica = getenv("RESPROUT_REPLICA");
  dies = rank == 0 && replica != NULL && strcmp(replica, "0") == 0;
  static char buffer[BUFSIZ];
  setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
  printf("rank %d\n", rank);
  MPI_Finalize();
  return 0;
}
