/* A barrier, and a broadcast, a reduction and an allreduce of each size, all checked.
 *
 *   carriers BYTES...           multiples of 8
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int rank;
static int ranks;

static void check(int is_right, const char* what) {
  if (is_right) return;
  fprintf(stderr, "WRONG: rank %d: %s\n", rank, what);
  fflush(stderr);
  _exit(1);
}

static int is_all(const double* data, int count, double value) {
  for (int i = 0; i < count; ++i)
    if (data[i] != value) return 0;
  return 1;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 1; i < argc; ++i) {
    const int count = atoi(argv[i]) / (int)sizeof(double);
    double* sent = malloc((size_t)count * sizeof *sent);
    double* received = malloc((size_t)count * sizeof *received);
    check(sent != NULL && received != NULL, "no memory left");
    for (int at = 0; at < count; ++at) sent[at] = rank == 0 ? 7 : 1;
    MPI_Bcast(sent, count, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    check(is_all(sent, count, 7), "bcast");
    MPI_Reduce(sent, received, count, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    check(rank != 0 || is_all(received, count, 7 * ranks), "reduce");
    MPI_Allreduce(sent, received, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    check(is_all(received, count, 7 * ranks), "allreduce");
    free(sent);
    free(received);
  }
  MPI_Finalize();
  return 0;
}
