/* Sums of doubles that rounding makes depend on their order.
 *
 *   sums FOLDER MODE
 *
 * Each rank adds 500 numbers of all magnitudes to those of the others, by allreduce and by reduce
 * to each rank in turn; rank R writes what it gets to FOLDER/sums-R, byte for byte: the allreduce's
 * of each round, then the reduce's if it was the root. Of replicas plane P does so to
 * FOLDER/sums-R-P. MODE `without-last`: the last rank gives zeros. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { count = 500, rounds = 4 };

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
  }
  fclose(file);
  MPI_Finalize();
  return 0;
}
