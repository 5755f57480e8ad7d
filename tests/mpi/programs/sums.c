/* Sums of doubles that rounding makes depend on their order.
 *
 *   sums FOLDER MODE
 *
 * Each rank adds 500 numbers of all magnitudes to those of the others, by allreduce, by reduce to
 * each rank in turn, and by reduce_scatter, whose parts are put together again; rank R writes what
 * it gets to FOLDER/sums-R, byte for byte: the allreduce's of each round, then the reduce's if it
 * was the root, then the parts'. Of replicas plane P does so to FOLDER/sums-R-P. MODE
 * `without-last`: the last rank gives zeros. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { count = 500, rounds = 4, ranks_max = 64 };

static uint64_t mixed(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

static double number(int rank, int round, int i) {
  uint64_t bits = mixed((uint64_t)rank << 40 | (uint64_t)round << 20 | (uint64_t)i);
  double value = (double)(int64_t)bits;
  for (int e = (int)(mixed(bits) % 40); e > 0; --e) value /= 4;
  return value;
}

/* The last rank gets no part: it may be dead. */
static void add_in_parts(const double* mine, double* all, int round, int size) {
  static double part[count];
  int counts[ranks_max], displs[ranks_max], at = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  for (int r = 0; r < size; ++r) {
    counts[r] = r < size - 1 ? count / (size - 1) + (r < count % (size - 1)) : 0;
    displs[r] = at;
    at += counts[r];
  }
  if (round % 2 == 0)
    MPI_Reduce_scatter(mine, part, counts, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  else
    MPI_Ireduce_scatter(mine, part, counts, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  memset(all, 0, count * sizeof *all);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Allgatherv(part, counts[rank], MPI_DOUBLE, all, counts, displs, MPI_DOUBLE, MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  static double mine[count], all[count];
  char path[4096];
  int rank, size;
  if (argc < 3) return 2;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int is_silent = strcmp(argv[2], "without-last") == 0 && rank == size - 1;
  const char* plane = getenv("RESPROUT_REPLICA");
  snprintf(path, sizeof path, "%s/sums-%d%s%s", argv[1], rank, plane ? "-" : "",
           plane ? plane : "");
  FILE* file = fopen(path, "wb");
  if (file == NULL) return 1;
  for (int round = 0; round < rounds; ++round) {
    for (int i = 0; i < count; ++i) mine[i] = is_silent ? 0 : number(rank, round, i);
    MPI_Allreduce(mine, all, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    fwrite(all, sizeof *all, count, file);
    for (int root = 0; root < size; ++root) {
      MPI_Reduce(mine, all, count, MPI_DOUBLE, MPI_SUM, root, MPI_COMM_WORLD);
      if (root == rank) fwrite(all, sizeof *all, count, file);
    }
    add_in_parts(mine, all, round, size);
    fwrite(all, sizeof *all, count, file);
  }
  fclose(file);
  MPI_Finalize();
  return 0;
}
