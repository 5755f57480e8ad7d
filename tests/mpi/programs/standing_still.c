/* Tokens go round; in one plane rank 1 stands still: it computes for ever, or waits for a message
   that nobody sends.

   standing_still before|middle|waiting|end PLANE */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { steps = 40, tag_of_none = 99 };

static void compute_for_ever(void) {
  for (volatile long i = 0;; i = i + 1) continue;
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const char* where = argv[1];
  const char* replica = getenv("RESPROUT_REPLICA");
  const char* launched_as = getenv("OMPI_COMM_WORLD_RANK");
  const int is_wrong = replica != NULL && launched_as != NULL && !strcmp(replica, argv[2]) &&
                       !strcmp(launched_as, "1");
  if (is_wrong && !strcmp(where, "before")) compute_for_ever();
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  long mine = rank + 1, got = 0;
  for (int step = 0; step < steps; ++step) {
    if (is_wrong && step == steps / 2) {
      if (!strcmp(where, "middle")) compute_for_ever();
      if (!strcmp(where, "waiting"))
        MPI_Recv(&got, 1, MPI_LONG, 0, tag_of_none, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Sendrecv(&mine, 1, MPI_LONG, (rank + 1) % size, 0, &got, 1, MPI_LONG,
                 (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    mine = mine * 3 + got;
  }
  if (rank == 0) printf("%ld\n", mine);
  fflush(stdout);
  MPI_Finalize();
  if (is_wrong && !strcmp(where, "end"))
    for (;;) pause();
  return 0;
}
