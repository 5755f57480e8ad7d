// Ends before MPI_Init: `early_end HOW RANK`, HOW is kill, segv, missing (no such program) or an
// exit status; RANK -1 is nobody. The others say how many are here.
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void end(const char* how) {
  if (strcmp(how, "kill") == 0) raise(SIGKILL);
  if (strcmp(how, "segv") == 0) raise(SIGSEGV);
  if (strcmp(how, "missing") == 0) {
    execl("/bin/sh", "sh", "-c", "exec /no/such/program", (char*)NULL);
  }
  exit(atoi(how));
}

int main(int argc, char** argv) {
  const char* rank = getenv("OMPI_COMM_WORLD_RANK");
  if (argc > 2 && rank != NULL && strcmp(rank, argv[2]) == 0) end(argv[1]);
  MPI_Init(&argc, &argv);
  int own = 0, one = 1, all = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &own);
  MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (own == 0) printf("%d are here\n", all);
  MPI_Finalize();
  return 0;
}
