// What `resprout calibrate` runs: collectives carried by the MPI library and by Resprout's own
// trees in turns, in the same processes.
//
//   calibrate SECONDS           for each case and carrier
//
// A communicator of its own for each carrier, which it gets by a hint. In a case the carriers take
// turns, sample by sample: a native barrier, then one call (`single`) or calls back to back
// (`stream`). A sample is a call's share of the slowest rank's time.
//
// Rank 0 prints `cases COUNT`, for each case
//   measured OPERATION MODE BYTES RESPROUT-US NATIVE-US RATIO
// with the medians of the samples and of their ratios, turn by turn, and `done`.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { samples_max = 1000, samples_min = 9, carriers = 2, bytes_max = 4 << 20 };

typedef enum { barrier, bcast, reduce, allreduce, operations } Operation;

typedef struct {
  Operation operation;
  int bytes;
  int is_stream;
} Case;

static const char* const operation_names[operations] = {"barrier", "bcast", "reduce", "allreduce"};
static const char* const carrier_names[carriers] = {"trees", "native"};
static const int sizes[] = {8, 64, 512, 4 << 10, 32 << 10, 256 << 10, 1 << 20, bytes_max};
enum { size_count = sizeof sizes / sizeof *sizes };

static MPI_Comm comms[carriers];
static double* sent;
static double* received;
static int rank;

static void give_up(const char* what) {
  fprintf(stderr, "bench: rank %d: %s\n", rank, what);
  exit(1);
}

static void* room_for(size_t bytes) {
  void* memory = calloc(bytes, 1);
  if (memory == NULL) give_up("no memory left");
  return memory;
}

static MPI_Comm make_communicator(const char* carrier) {
  MPI_Comm comm;
  MPI_Info info;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Info_create(&info);
  MPI_Info_set(info, "resprout_collectives", carrier);
  if (MPI_Comm_set_info(comm, info) != MPI_SUCCESS) give_up("the hint was refused");
  MPI_Info_free(&info);
  return comm;
}

static void call(const Case* it, MPI_Comm comm) {
  const int count = it->bytes / (int)sizeof(double);
  int code = MPI_SUCCESS;
  switch (it->operation) {
    case barrier:
      code = MPI_Barrier(comm);
      break;
    case bcast:
      code = MPI_Bcast(sent, count, MPI_DOUBLE, 0, comm);
      break;
    case reduce:
      code = MPI_Reduce(sent, received, count, MPI_DOUBLE, MPI_SUM, 0, comm);
      break;
    default:
      code = MPI_Allreduce(sent, received, count, MPI_DOUBLE, MPI_SUM, comm);
      break;
  }
  if (code != MPI_SUCCESS) give_up("a collective failed");
}

// Microseconds a call, on this rank.
static double sample(const Case* it, int carrier, int calls) {
  PMPI_Barrier(MPI_COMM_WORLD);
  const double begin = PMPI_Wtime();
  for (int i = 0; i < calls; ++i) call(it, comms[carrier]);
  return 1e6 * (PMPI_Wtime() - begin) / calls;
}

// The same on all ranks: as rank 0 has it.
static double agreed_sample(const Case* it, int carrier, int calls) {
  double time = sample(it, carrier, calls);
  PMPI_Bcast(&time, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  return time;
}

// Calls in a sample, and samples: equal on all ranks, and for both carriers.
static void plan(const Case* it, double seconds, int* calls, int* samples) {
  double slower = 0.01;
  for (int carrier = 0; carrier < carriers; ++carrier) {
    double time = agreed_sample(it, carrier, 3);  // the first calls take longer
    if (30 * time < 1e6 * seconds) time = agreed_sample(it, carrier, 30);
    slower = time > slower ? time : slower;
  }
  *calls = 1;
  if (it->is_stream) *calls += (int)(1e6 * seconds / 40 / slower);
  if (*calls > 20000) *calls = 20000;
  const double fitting = 1e6 * seconds / (slower * *calls);
  *samples = fitting > samples_max ? samples_max : (int)fitting;
  if (*samples < samples_min) *samples = samples_min;
}

static int compare(const void* a, const void* b) {
  const double difference = *(const double*)a - *(const double*)b;
  return (difference > 0) - (difference < 0);
}

static double median(double* times, int samples) {
  qsort(times, (size_t)samples, sizeof *times, compare);
  return times[samples / 2];
}

static void measure(const Case* it, double seconds) {
  static double times[carriers][samples_max];
  static double slowest[carriers][samples_max];
  static double ratios[samples_max];
  int calls = 0;
  int samples = 0;
  plan(it, seconds, &calls, &samples);
  for (int i = 0; i < samples; ++i)
    for (int turn = 0; turn < carriers; ++turn) {
      const int carrier = (i + turn) % carriers;
      times[carrier][i] = sample(it, carrier, calls);
    }
  for (int carrier = 0; carrier < carriers; ++carrier)
    PMPI_Reduce(times[carrier], slowest[carrier], samples, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank != 0) return;
  for (int i = 0; i < samples; ++i) ratios[i] = slowest[0][i] / slowest[1][i];
  printf("measured %s %s %d", operation_names[it->operation], it->is_stream ? "stream" : "single",
         it->bytes);
  printf(" %.4f %.4f", median(slowest[0], samples), median(slowest[1], samples));
  printf(" %.4f\n", median(ratios, samples));
  fflush(stdout);
}

// Size by size: what disturbs the machine for a while disturbs all operations of a size alike.
static int make_cases(Case* cases) {
  int count = 0;
  cases[count++] = (Case){barrier, 0, 1};
  for (int i = 0; i < size_count; ++i)
    for (int operation = bcast; operation < operations; ++operation)
      for (int is_stream = 0; is_stream < 2; ++is_stream)
        cases[count++] = (Case){(Operation)operation, sizes[i], is_stream};
  return count;
}

int main(int argc, char** argv) {
  Case cases[1 + 2 * operations * size_count];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (argc != 2 || !(strtod(argv[1], NULL) > 0)) give_up("arguments: see the head of this program");
  const double seconds = strtod(argv[1], NULL);
  for (int carrier = 0; carrier < carriers; ++carrier)
    comms[carrier] = make_communicator(carrier_names[carrier]);
  sent = room_for(bytes_max);
  received = room_for(bytes_max);
  const int count = make_cases(cases);
  if (rank == 0) printf("cases %d\n", count);
  for (int i = 0; i < count; ++i) measure(&cases[i], seconds);
  free(sent);
  free(received);
  if (rank == 0) puts("done");
  MPI_Finalize();
  return 0;
}
