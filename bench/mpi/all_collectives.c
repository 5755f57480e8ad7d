// How long each collective takes back to back, in each of its forms, of 8 B, 32 KiB and 1 MiB.
//
//   all_collectives SECONDS [FUNCTION]... [BYTES]...    for each function and size, or for these
//
// A call that fails, as it does when a rank was lost, ends the job: there is no figure then.
//
// Rank 0 prints a line each: function bytes median, in microseconds a call, of the slowest rank.
// Bytes are what a rank gives to each other in exchanges, to the root in gathers, what it gets from
// the root in scatters, and of a reduction the sum that a rank gets.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { bytes_max = 1 << 20, ranks_max = 256, samples_max = 200, samples_min = 5 };
// A sample of fewer small calls shows when the ranks get the processor behind a barrier.
enum { small_bytes_max = 64 << 10, small_calls_min = 50 };

static double *sent, *received;
static int rank, ranks, count;
static int counts[ranks_max], places[ranks_max], byte_places[ranks_max];
static MPI_Datatype types[ranks_max];
static const MPI_Comm world = MPI_COMM_WORLD;

static void must(int code, const char* what) {
  if (code == MPI_SUCCESS) return;
  fprintf(stderr, "all_collectives: %s of rank %d failed, error %d\n", what, rank, code);
  MPI_Abort(world, 3);
  exit(3);
}

// A collective is called; or started and waited for at once; or made once, and then started and
// waited for again and again.
static MPI_Request prepared = MPI_REQUEST_NULL;
static void start_prepared(void) {
  must(MPI_Start(&prepared), "start");
  must(MPI_Wait(&prepared, MPI_STATUS_IGNORE), "wait");
}
#define CALL(name, ...)                                                            \
  static void call_##name(void) { must(MPI_##name(__VA_ARGS__), #name); }          \
  static void prepare_##name(void) {                                               \
    must(MPI_##name##_init(__VA_ARGS__, MPI_INFO_NULL, &prepared), #name "_init"); \
  }
#define START(name, ...)                                \
  static void call_##name(void) {                       \
    MPI_Request request;                                \
    must(MPI_##name(__VA_ARGS__, &request), #name);     \
    must(MPI_Wait(&request, MPI_STATUS_IGNORE), #name); \
  }

CALL(Bcast, sent, count, MPI_DOUBLE, 0, world)
CALL(Reduce, sent, received, count, MPI_DOUBLE, MPI_SUM, 0, world)
CALL(Allreduce, sent, received, count, MPI_DOUBLE, MPI_SUM, world)
CALL(Gather, sent, count, MPI_DOUBLE, received, count, MPI_DOUBLE, 0, world)
CALL(Gatherv, sent, count, MPI_DOUBLE, received, counts, places, MPI_DOUBLE, 0, world)
CALL(Scatter, sent, count, MPI_DOUBLE, received, count, MPI_DOUBLE, 0, world)
CALL(Scatterv, sent, counts, places, MPI_DOUBLE, received, count, MPI_DOUBLE, 0, world)
CALL(Allgather, sent, count, MPI_DOUBLE, received, count, MPI_DOUBLE, world)
CALL(Allgatherv, sent, count, MPI_DOUBLE, received, counts, places, MPI_DOUBLE, world)
CALL(Alltoall, sent, count, MPI_DOUBLE, received, count, MPI_DOUBLE, world)
CALL(Alltoallv, sent, counts, places, MPI_DOUBLE, received, counts, places, MPI_DOUBLE, world)
CALL(Alltoallw, sent, counts, byte_places, types, received, counts, byte_places, types, world)
CALL(Scan, sent, received, count, MPI_DOUBLE, MPI_SUM, world)
CALL(Exscan, sent, received, count, MPI_DOUBLE, MPI_SUM, world)
CALL(Reduce_scatter, sent, received, counts, MPI_DOUBLE, MPI_SUM, world)
CALL(Reduce_scatter_block, sent, received, count, MPI_DOUBLE, MPI_SUM, world)
CALL(Barrier, world)
START(Ibcast, sent, count, MPI_DOUBLE, 0, world)
START(Ireduce, sent, received, count, MPI_DOUBLE, MPI_SUM, 0, world)
START(Iallreduce, sent, received, count, MPI_DOUBLE, MPI_SUM, world)
START(Igather, sent, count, MPI_DOUBLE, received, count, MPI_DOUBLE, 0, world)
START(Igatherv, sent, count, MPI_DOUBLE, received, counts, places, MPI_DOUBLE, 0, world)
START(Iscatter, sent, count, MPI_DOUBLE, received, count, MPI_DOUBLE, 0, world)
START(Iscatterv, sent, counts, places, MPI_DOUBLE, received, count, MPI_DOUBLE, 0, world)
START(Iallgather, sent, count, MPI_DOUBLE, received, count, MPI_DOUBLE, world)
START(Iallgatherv, sent, count, MPI_DOUBLE, received, counts, places, MPI_DOUBLE, world)
START(Ialltoall, sent, count, MPI_DOUBLE, received, count, MPI_DOUBLE, world)
START(Ialltoallv, sent, counts, places, MPI_DOUBLE, received, counts, places, MPI_DOUBLE, world)
START(Ialltoallw, sent, counts, byte_places, types, received, counts, byte_places, types, world)
START(Iscan, sent, received, count, MPI_DOUBLE, MPI_SUM, world)
START(Iexscan, sent, received, count, MPI_DOUBLE, MPI_SUM, world)
START(Ireduce_scatter, sent, received, counts, MPI_DOUBLE, MPI_SUM, world)
START(Ireduce_scatter_block, sent, received, count, MPI_DOUBLE, MPI_SUM, world)
START(Ibarrier, world)

typedef struct {
  const char* name;
  void (*call)(void);
  void (*prepare)(void);  // a persistent one
} Function;

static const Function functions[] = {
    {"bcast", call_Bcast, NULL},
    {"reduce", call_Reduce, NULL},
    {"allreduce", call_Allreduce, NULL},
    {"gather", call_Gather, NULL},
    {"gatherv", call_Gatherv, NULL},
    {"scatter", call_Scatter, NULL},
    {"scatterv", call_Scatterv, NULL},
    {"allgather", call_Allgather, NULL},
    {"allgatherv", call_Allgatherv, NULL},
    {"alltoall", call_Alltoall, NULL},
    {"alltoallv", call_Alltoallv, NULL},
    {"alltoallw", call_Alltoallw, NULL},
    {"scan", call_Scan, NULL},
    {"exscan", call_Exscan, NULL},
    {"reduce_scatter", call_Reduce_scatter, NULL},
    {"reduce_scatter_block", call_Reduce_scatter_block, NULL},
    {"barrier", call_Barrier, NULL},
    {"ibcast", call_Ibcast, NULL},
    {"ireduce", call_Ireduce, NULL},
    {"iallreduce", call_Iallreduce, NULL},
    {"igather", call_Igather, NULL},
    {"igatherv", call_Igatherv, NULL},
    {"iscatter", call_Iscatter, NULL},
    {"iscatterv", call_Iscatterv, NULL},
    {"iallgather", call_Iallgather, NULL},
    {"iallgatherv", call_Iallgatherv, NULL},
    {"ialltoall", call_Ialltoall, NULL},
    {"ialltoallv", call_Ialltoallv, NULL},
    {"ialltoallw", call_Ialltoallw, NULL},
    {"iscan", call_Iscan, NULL},
    {"iexscan", call_Iexscan, NULL},
    {"ireduce_scatter", call_Ireduce_scatter, NULL},
    {"ireduce_scatter_block", call_Ireduce_scatter_block, NULL},
    {"ibarrier", call_Ibarrier, NULL},
    {"bcast_init", start_prepared, prepare_Bcast},
    {"reduce_init", start_prepared, prepare_Reduce},
    {"allreduce_init", start_prepared, prepare_Allreduce},
    {"gather_init", start_prepared, prepare_Gather},
    {"gatherv_init", start_prepared, prepare_Gatherv},
    {"scatter_init", start_prepared, prepare_Scatter},
    {"scatterv_init", start_prepared, prepare_Scatterv},
    {"allgather_init", start_prepared, prepare_Allgather},
    {"allgatherv_init", start_prepared, prepare_Allgatherv},
    {"alltoall_init", start_prepared, prepare_Alltoall},
    {"alltoallv_init", start_prepared, prepare_Alltoallv},
    {"alltoallw_init", start_prepared, prepare_Alltoallw},
    {"scan_init", start_prepared, prepare_Scan},
    {"exscan_init", start_prepared, prepare_Exscan},
    {"reduce_scatter_init", start_prepared, prepare_Reduce_scatter},
    {"reduce_scatter_block_init", start_prepared, prepare_Reduce_scatter_block},
    {"barrier_init", start_prepared, prepare_Barrier},
};
static const int sizes[] = {8, 32 << 10, bytes_max};

// Microseconds a call, of the slowest rank, on all ranks.
static double sample(void (*call)(void), int calls) {
  double time = 0;
  must(PMPI_Barrier(world), "barrier");
  const double begin = PMPI_Wtime();
  for (int i = 0; i < calls; ++i) call();
  const double mine = 1e6 * (PMPI_Wtime() - begin) / calls;
  must(PMPI_Allreduce(&mine, &time, 1, MPI_DOUBLE, MPI_MAX, world), "allreduce of times");
  return time;
}

static int compare(const void* a, const void* b) {
  const double difference = *(const double*)a - *(const double*)b;
  return (difference > 0) - (difference < 0);
}

static double measure(void (*call)(void), double seconds) {
  static double times[samples_max];
  sample(call, 3);  // the first calls take longer
  const double once = sample(call, 5);
  int calls = (int)(1e6 * seconds / 20 / once);
  const int calls_min = count * (int)sizeof(double) <= small_bytes_max ? small_calls_min : 1;
  calls = calls < calls_min ? calls_min : calls > 5000 ? 5000 : calls;
  int samples = (int)(1e6 * seconds / (once * calls));
  samples = samples < samples_min ? samples_min : samples > samples_max ? samples_max : samples;
  for (int i = 0; i < samples; ++i) times[i] = sample(call, calls);
  qsort(times, (size_t)samples, sizeof *times, compare);
  return times[samples / 2];
}

// There is one double at least.
static long size_of(const char* argument) {
  const long bytes = strtol(argument, NULL, 10);
  if (bytes < 8 || bytes > bytes_max) MPI_Abort(world, 2);
  return bytes;
}
static int is_size(const char* argument) { return argument[0] >= '0' && argument[0] <= '9'; }

static int is_wanted(const char* name, int argc, char** argv) {
  int are_all = 1;
  for (int i = 2; i < argc; ++i) {
    if (strcmp(argv[i], name) == 0) return 1;
    if (!is_size(argv[i])) are_all = 0;
  }
  return are_all;
}

static void measure_all(int bytes, double seconds, int argc, char** argv) {
  count = bytes / (int)sizeof(double);
  for (int r = 0; r < ranks; ++r) {
    counts[r] = count;
    places[r] = count * r;
    byte_places[r] = bytes * r;
    types[r] = MPI_DOUBLE;
  }
  for (size_t f = 0; f < sizeof functions / sizeof *functions; ++f) {
    if (!is_wanted(functions[f].name, argc, argv)) continue;
    if (functions[f].prepare != NULL) functions[f].prepare();
    const double time = measure(functions[f].call, seconds);
    if (functions[f].prepare != NULL) MPI_Request_free(&prepared);
    if (rank == 0) printf("%s %d %.3f\n", functions[f].name, bytes, time);
    fflush(stdout);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
  MPI_Comm_rank(world, &rank);
  MPI_Comm_size(world, &ranks);
  const double seconds = argc > 1 ? strtod(argv[1], NULL) : 0.05;
  if (ranks > ranks_max || !(seconds > 0)) MPI_Abort(world, 2);
  long largest = 0;
  for (int i = 2; i < argc; ++i)
    if (is_size(argv[i]) && size_of(argv[i]) > largest) largest = size_of(argv[i]);
  const size_t room = (size_t)(largest != 0 ? largest : bytes_max) * (size_t)ranks;
  sent = calloc(room, 1);
  received = calloc(room, 1);
  if (sent == NULL || received == NULL) MPI_Abort(world, 1);
  memset(received, 1, room);  // its pages are there before the first call
  memset(sent, 0, room);
  for (int i = 2; i < argc; ++i)
    if (is_size(argv[i])) measure_all((int)size_of(argv[i]), seconds, argc, argv);
  for (size_t i = 0; largest == 0 && i < sizeof sizes / sizeof *sizes; ++i)
    measure_all(sizes[i], seconds, argc, argv);
  free(sent);
  free(received);
  MPI_Finalize();
  return 0;
}
