// Estimates pi with random points, in rounds: a plain MPI program.
//
//   pi [ROUNDS [POINTS]]     rounds, and points a process draws in each
//
// After each round all processes add up what they have drawn, so that everybody knows the total.
#include <math.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

// splitmix64: small, and good enough for darts.
static double next_random(uint64_t* state) {
  uint64_t z = (*state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return (double)((z ^ (z >> 31)) >> 11) * 0x1.0p-53;
}

// How many of `points` random points of the unit square lie in the quarter circle.
static int64_t count_hits(int64_t points, uint64_t* state) {
  int64_t hits = 0;
  for (int64_t i = 0; i < points; ++i) {
    const double x = next_random(state);
    const double y = next_random(state);
    hits += x * x + y * y < 1.0;
  }
  return hits;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int rounds = argc > 1 ? atoi(argv[1]) : 600;
  const int64_t points = argc > 2 ? atoll(argv[2]) : 200000;

  uint64_t state = (uint64_t)rank << 32;
  int64_t total[2] = {0, 0};  // hits, points
  for (int round = 0; round < rounds; ++round) {
    const int64_t mine[2] = {count_hits(points, &state), points};
    int64_t sum[2];
    MPI_Allreduce(mine, sum, 2, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    total[0] += sum[0];
    total[1] += sum[1];
  }

  // The lowest rank of those who take part speaks for all.
  int speaker = rank;
  MPI_Allreduce(MPI_IN_PLACE, &speaker, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (rank == speaker) {
    const double share = (double)total[0] / (double)total[1];
    const double error = 4.0 * sqrt(share * (1.0 - share) / (double)total[1]);
    printf("pi is about %.6f +- %.6f (%lld points, says rank %d)\n", 4.0 * share, error,
           (long long)total[1], rank);
  }
  MPI_Finalize();
  return 0;
}
