// ULFM's first way: shrink, and go on with what is left.
//
//   resprout run -n 8 --on-loss error --inject kill:count=2,seed=1,within=1s -- shrink [ROUNDS]
//
// Pi from random points, a block of them in each round. A round counts if it went well everywhere;
// otherwise those who are left throw its points again, fewer of them.
#include <mpi.h>

#include <mpi-ext.h>
#include <stdio.h>
#include <stdlib.h>

enum { points = 20000 };

static long hits_of_block(unsigned* state) {
  long hits = 0;
  for (int i = 0; i < points; ++i) {
    const double x = rand_r(state) / (double)RAND_MAX;
    const double y = rand_r(state) / (double)RAND_MAX;
    if (x * x + y * y <= 1.0) ++hits;
  }
  return hits;
}

static void shrink(MPI_Comm* comm) {
  MPI_Comm shrunken;
  MPIX_Comm_shrink(*comm, &shrunken);
  if (*comm != MPI_COMM_WORLD) MPI_Comm_free(comm);
  *comm = shrunken;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm comm = MPI_COMM_WORLD;
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Comm_rank(comm, &rank);
  unsigned state = 1u + (unsigned)rank;
  const int rounds = argc > 1 ? atoi(argv[1]) : 1000;
  long total[2] = {0, 0};  // hits, points

  for (int round = 0; round < rounds;) {
    long block[2] = {hits_of_block(&state), points};
    int is_well = MPI_Allreduce(MPI_IN_PLACE, block, 2, MPI_LONG, MPI_SUM, comm) == MPI_SUCCESS;
    if (!is_well) MPIX_Comm_revoke(comm);
    MPIX_Comm_agree(comm, &is_well);  // the same everywhere: all count this round, or nobody
    if (is_well) {
      total[0] += block[0];
      total[1] += block[1];
      ++round;
    } else {
      shrink(&comm);
    }
  }

  int size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  if (rank == 0)
    printf("pi is about %.4f: %ld points, %d processes left\n",
           4.0 * (double)total[0] / (double)total[1], total[1], size);
  MPI_Finalize();
  return 0;
}
