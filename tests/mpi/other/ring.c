// Passes a token around. Then rank 1 ends as told, in the first life only:
//
//   ring whole | kill | abort | exit | unfinalized
//
// Says "sum N life L" in the end; every rank exits with the status in STATUS, if there is one.
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "whole";
  const char* life = getenv("RESPROUT_RESTART");
  const int is_first = life == NULL || strcmp(life, "0") == 0;
  const char* status = getenv("STATUS");
  MPI_Init(&argc, &argv);
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int sum = 0;
  for (int round = 0; round < 3; ++round) {
    int token = rank;
    sum = 0;
    for (int step = 0; step < size; ++step) {
      sum += token;
      MPI_Sendrecv_replace(&token, 1, MPI_INT, (rank + 1) % size, 0, (rank + size - 1) % size, 0,
                           MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (round == 1 && rank == 1 && is_first) {
      if (strcmp(how, "kill") == 0) raise(SIGKILL);
      if (strcmp(how, "abort") == 0) MPI_Abort(MPI_COMM_WORLD, 9);
      if (strcmp(how, "exit") == 0) exit(4);
    }
  }
  if (rank == 0) printf("sum %d life %s\n", sum, life == NULL ? "-" : life);
  fflush(stdout);
  if (strcmp(how, "unfinalized") == 0) return 0;
  MPI_Finalize();
  return status == NULL ? 0 : atoi(status);
}
