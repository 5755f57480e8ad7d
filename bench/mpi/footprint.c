// What a rank takes, once the small collectives were called: memory, and the time until all ranks
// are through MPI_Init.
//
// Rank 0 prints one line: nanoseconds PSS TABLES. The first is of the system's clock, when the last
// rank was through MPI_Init; the others are KiB of a rank in the mean: what it has of memory, where
// memory that several share counts in equal parts, and its page tables.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { rounds = 300, ranks_max = 4096 };

// The number behind the name at the beginning of a line; of the file's last line of that name.
static double number_of(const char* path, const char* name) {
  char line[256];
  double number = 0;
  FILE* file = fopen(path, "r");
  if (file == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  while (fgets(line, sizeof line, file) != NULL)
    if (strncmp(line, name, strlen(name)) == 0) number = strtod(line + strlen(name), NULL);
  fclose(file);
  return number;
}

static double mean(double mine, int ranks) {
  double sum = 0;
  MPI_Reduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  return sum / ranks;
}

int main(int argc, char** argv) {
  static long all[ranks_max];
  long mine = 1;
  long sum = 0;
  int rank = 0;
  int ranks = 0;
  struct timespec now;
  MPI_Init(&argc, &argv);
  clock_gettime(CLOCK_REALTIME, &now);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks > ranks_max) MPI_Abort(MPI_COMM_WORLD, 2);
  long long began = now.tv_sec * 1000000000LL + now.tv_nsec;
  long long last = 0;
  MPI_Reduce(&began, &last, 1, MPI_LONG_LONG, MPI_MAX, 0, MPI_COMM_WORLD);
  // More than there are slots for broadcasts.
  for (int i = 0; i < rounds; ++i) MPI_Bcast(&mine, 1, MPI_LONG, 0, MPI_COMM_WORLD);
  for (int i = 0; i < 4; ++i) {
    MPI_Allreduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Reduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Gather(&mine, 1, MPI_LONG, all, 1, MPI_LONG, 0, MPI_COMM_WORLD);
    MPI_Scatter(all, 1, MPI_LONG, &mine, 1, MPI_LONG, 0, MPI_COMM_WORLD);
    MPI_Scan(&mine, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  const double memory = number_of("/proc/self/smaps_rollup", "Pss:");
  const double tables = number_of("/proc/self/status", "VmPTE:");
  MPI_Barrier(MPI_COMM_WORLD);
  const double mean_memory = mean(memory, ranks);
  const double mean_tables = mean(tables, ranks);
  if (rank == 0) printf("%lld %.0f %.0f\n", last, mean_memory, mean_tables);
  MPI_Finalize();
  return 0;
}
