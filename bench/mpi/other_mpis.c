// How long some calls take, of 8 B, 64 KiB and 1 MiB: what MPI libraries are compared by.
//
//   other_mpis SECONDS       for each call and size
//
// Rank 0 prints a line each: call bytes median, in microseconds a call, of the slowest rank. A
// barrier has no bytes. `ping-pong` is a message from rank 0 to rank 1 and back; two ranks do it.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { bytes_max = 1 << 20, samples_max = 100, samples_min = 5, calls_max = 2000 };

static double *sent, *received;
static int rank, ranks, count;
static const MPI_Comm world = MPI_COMM_WORLD;

static void call_allreduce(void) {
  MPI_Allreduce(sent, received, count, MPI_DOUBLE, MPI_SUM, world);
}
static void call_bcast(void) { MPI_Bcast(sent, count, MPI_DOUBLE, 0, world); }
static void call_gather(void) {
  MPI_Gather(sent, count, MPI_DOUBLE, received, count, MPI_DOUBLE, 0, world);
}
static void call_barrier(void) { MPI_Barrier(world); }
static void call_ping_pong(void) {
  if (rank == 0) {
    MPI_Send(sent, count, MPI_DOUBLE, 1, 0, world);
    MPI_Recv(received, count, MPI_DOUBLE, 1, 0, world, MPI_STATUS_IGNORE);
  } else {
    MPI_Recv(received, count, MPI_DOUBLE, 0, 0, world, MPI_STATUS_IGNORE);
    MPI_Send(sent, count, MPI_DOUBLE, 0, 0, world);
  }
}

static const struct Timed {
  const char* name;
  void (*call)(void);
  int has_bytes;
  int ranks_max;  // 0: as many as there are
} timed[] = {
    {"allreduce", call_allreduce, 1, 0}, {"bcast", call_bcast, 1, 0},
    {"gather", call_gather, 1, 0},       {"barrier", call_barrier, 0, 0},
    {"ping-pong", call_ping_pong, 1, 2},
};
static const int sizes[] = {8, 64 << 10, bytes_max};

// Microseconds a call, of the slowest rank, on all ranks.
static double sample(void (*call)(void), int calls) {
  double time = 0;
  MPI_Barrier(world);
  const double begin = MPI_Wtime();
  for (int i = 0; i < calls; ++i) call();
  const double mine = 1e6 * (MPI_Wtime() - begin) / calls;
  MPI_Allreduce(&mine, &time, 1, MPI_DOUBLE, MPI_MAX, world);
  return time;
}

static int compare(const void* a, const void* b) {
  const double difference = *(const double*)a - *(const double*)b;
  return (difference > 0) - (difference < 0);
}

static double measure(void (*call)(void), double seconds) {
  static double times[samples_max];
  sample(call, 2);  // the first calls take longer
  const double once = sample(call, 3);
  int calls = (int)(1e6 * seconds / 20 / once);
  calls = calls < 1 ? 1 : calls > calls_max ? calls_max : calls;
  int samples = (int)(1e6 * seconds / (once * calls));
  samples = samples < samples_min ? samples_min : samples > samples_max ? samples_max : samples;
  for (int i = 0; i < samples; ++i) times[i] = sample(call, calls);
  qsort(times, (size_t)samples, sizeof *times, compare);
  return times[samples / 2];
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(world, &rank);
  MPI_Comm_size(world, &ranks);
  const double seconds = argc > 1 ? strtod(argv[1], NULL) : 0.05;
  const size_t room = (size_t)bytes_max * (size_t)ranks;
  sent = calloc(room, 1);
  received = calloc(room, 1);
  if (sent == NULL || received == NULL || !(seconds > 0)) MPI_Abort(world, 1);
  memset(received, 1, room);  // its pages are there before the first call
  for (size_t t = 0; t < sizeof timed / sizeof *timed; ++t) {
    if (timed[t].ranks_max != 0 && ranks > timed[t].ranks_max) continue;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
      if (!timed[t].has_bytes && i > 0) break;
      count = sizes[i] / (int)sizeof(double);
      const double time = measure(timed[t].call, seconds);
      if (rank == 0) printf("%s %d %.3f\n", timed[t].name, timed[t].has_bytes ? sizes[i] : 0, time);
      fflush(stdout);
    }
  }
  free(sent);
  free(received);
  MPI_Finalize();
  return 0;
}
