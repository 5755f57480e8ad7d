// How long MPI_Bcast and MPI_Allreduce take, the program's own calls in turns with the MPI
// library's (PMPI_...), which are the same functions unless something is preloaded.
//
//   collectives SECONDS           seconds for each operation, size, mode and library
//
// Rank 0 prints a line each: operation mode library bytes lower-quartile median upper-quartile, in
// microseconds an operation, of the slowest rank; and as library `ratio` that of the program's time
// to the library's, sample by sample. `latency` is one call after a native barrier; `throughput` is
// calls back to back.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { bytes_max = 4 << 20, samples_max = 400, samples_min = 9, libraries = 2 };

typedef int (*Bcast)(void*, int, MPI_Datatype, int, MPI_Comm);
typedef int (*Allreduce)(const void*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm);

static const char* const library_names[libraries] = {"program", "mpi"};
static const Bcast bcasts[libraries] = {MPI_Bcast, PMPI_Bcast};
static const Allreduce allreduces[libraries] = {MPI_Allreduce, PMPI_Allreduce};
static const int sizes[] = {8, 64, 512, 4 << 10, 32 << 10, 256 << 10, 1 << 20, 4 << 20};

static double* sent;
static double* received;
static int rank;

typedef struct {
  int is_bcast;
  int bytes;
  int is_latency;
} Case;

static void call(const Case* it, int library) {
  const int count = it->bytes / (int)sizeof(double);
  if (it->is_bcast)
    bcasts[library](sent, count, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  else
    allreduces[library](sent, received, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

// Microseconds an operation, on this rank.
static double sample(const Case* it, int library, int calls) {
  PMPI_Barrier(MPI_COMM_WORLD);
  const double begin = PMPI_Wtime();
  for (int i = 0; i < calls; ++i) call(it, library);
  return 1e6 * (PMPI_Wtime() - begin) / calls;
}

static int compare(const void* a, const void* b) {
  const double difference = *(const double*)a - *(const double*)b;
  return (difference > 0) - (difference < 0);
}

static void print(const Case* it, const char* library, double* times, int samples) {
  qsort(times, (size_t)samples, sizeof *times, compare);
  printf("%s %s %s %d %.3f %.3f %.3f\n", it->is_bcast ? "bcast" : "allreduce",
         it->is_latency ? "latency" : "throughput", library, it->bytes, times[samples / 4],
         times[samples / 2], times[samples * 3 / 4]);
  fflush(stdout);
}

// Calls in a sample and samples: equal on all ranks, and the same for both libraries.
static void plan(const Case* it, double seconds, int* calls, int* samples) {
  double slower = 0.01;
  for (int library = 0; library < libraries; ++library) {
    sample(it, library, 3);
    const double time = sample(it, library, it->bytes <= 4096 ? 30 : 2);
    slower = time > slower ? time : slower;
  }
  PMPI_Bcast(&slower, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  *calls = 1;
  if (!it->is_latency) *calls += (int)(1e6 * seconds / 20 / slower);
  if (*calls > 20000) *calls = 20000;
  const double fitting = 1e6 * seconds / (slower * *calls);
  *samples = fitting > samples_max ? samples_max : (int)fitting;
  if (*samples < samples_min) *samples = samples_min;
}

static void measure(const Case* it, double seconds) {
  static double times[libraries][samples_max];
  static double slowest[libraries][samples_max];
  static double ratios[samples_max];
  int calls = 0;
  int samples = 0;
  plan(it, seconds, &calls, &samples);
  for (int i = 0; i < samples; ++i)
    for (int library = 0; library < libraries; ++library)
      times[library][i] = sample(it, library, calls);
  for (int library = 0; library < libraries; ++library)
    PMPI_Reduce(times[library], slowest[library], samples, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank != 0) return;
  for (int i = 0; i < samples; ++i) ratios[i] = slowest[0][i] / slowest[1][i];
  for (int library = 0; library < libraries; ++library)
    print(it, library_names[library], slowest[library], samples);
  print(it, "ratio", ratios, samples);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const double seconds = argc > 1 ? strtod(argv[1], NULL) : 0.05;
  sent = malloc(bytes_max);
  received = malloc(bytes_max);
  memset(sent, 0, bytes_max);
  memset(received, 0, bytes_max);
  for (int is_bcast = 1; is_bcast >= 0; --is_bcast)
    for (int is_latency = 0; is_latency < 2; ++is_latency)
      for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
        const Case it = {is_bcast, sizes[i], is_latency};
        measure(&it, seconds);
      }
  free(sent);
  free(received);
  MPI_Finalize();
  return 0;
}
