/* What `resprout bench revoke` runs: plan A is interrupted, and everybody goes over to plan B.
 *
 *   revoke ROUNDS BEFORE AFTER PAUSE SEED OPERATION:BYTES:INITIATOR...
 *
 * In each round every case has two samples, in random order: one by Resprout's calls, one by the
 * MPI library's own (PMPI_, on communicators made by PMPI_ calls). A sample makes a new commA,
 * calls OPERATION on it BEFORE times, and then once more; but INITIATOR revokes commA instead,
 * PAUSE microseconds later. Whoever is out of that calls OPERATION AFTER times on commB. Before the
 * interrupted one is a barrier elsewhere, else the operation before it might be hit as well.
 *
 * Microseconds; of the ranks the maximum counts: of a call that ends well from when a rank enters
 * until it returns, of the interrupted one from when the initiator revokes until the last rank has
 * returned. All ranks are on one host and have one clock.
 *
 * Rank 0 prints `at ROUNDS-DONE` now and then, `sample CASE WAY US...` at the end (WAY 0: Resprout;
 * the times are those before, the interrupted one's, those after), and `done`.
 */
#include <float.h>
#include <mpi.h>
#if defined(OPEN_MPI)
#  include <mpi-ext.h>
#endif
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#if defined(OMPI_HAVE_MPI_EXT_FTMPI) && OMPI_HAVE_MPI_EXT_FTMPI

enum { cases_max = 256, warm_ups = 3, ways = 2 };

typedef enum { resprout, library } Way;

typedef struct {
  int is_barrier;
  int count; /* of 64-bit integers */
  int initiator;
} Case;

static int rounds, before, after, pause_us;
static uint64_t seed;
static Case cases[cases_max];
static int case_count;
static int rank, ranks;
static int64_t *there, *here;
static MPI_Comm base; /* the library's own; for what is not measured */
static MPI_Comm plan_b[ways];

static void give_up(const char* what) {
  fprintf(stderr, "bench: rank %d: %s\n", rank, what);
  exit(1);
}

static void* room_for(size_t count, size_t bytes) {
  void* memory = calloc(count, bytes);
  if (memory == NULL) give_up("no memory left");
  return memory;
}

static double now_us(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return 1e6 * (double)time.tv_sec + 1e-3 * (double)time.tv_nsec;
}

/* The same at all ranks. */
static int below(int bound) {
  seed = seed * 6364136223846793005ull + 1442695040888963407ull;
  return (int)((seed >> 33) % (unsigned)bound);
}

static MPI_Comm make_communicator(Way way) {
  MPI_Comm comm;
  if (way == resprout) {
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  } else {
    PMPI_Comm_dup(base, &comm);
    PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  }
  return comm;
}

static void free_communicator(Way way, MPI_Comm* comm) {
  if (way == resprout)
    MPI_Comm_free(comm);
  else
    PMPI_Comm_free(comm);
}

static void revoke(Way way, MPI_Comm comm) {
  const int code = way == resprout ? MPIX_Comm_revoke(comm) : PMPIX_Comm_revoke(comm);
  if (code != MPI_SUCCESS) give_up("a revocation failed");
}

static int call(Way way, const Case* it, MPI_Comm comm) {
  if (it->is_barrier) return way == resprout ? MPI_Barrier(comm) : PMPI_Barrier(comm);
  return way == resprout ? MPI_Allreduce(there, here, it->count, MPI_INT64_T, MPI_SUM, comm)
                         : PMPI_Allreduce(there, here, it->count, MPI_INT64_T, MPI_SUM, comm);
}

/* A call that has to end well: how long it takes here. */
static double time_call(Way way, const Case* it, MPI_Comm comm) {
  const int64_t sum = (int64_t)ranks * (ranks + 1) / 2;
  here[0] = here[it->count - 1] = 0;
  const double begin = now_us();
  const int code = call(way, it, comm);
  const double end = now_us();
  if (code != MPI_SUCCESS) give_up("an operation failed that nobody revoked");
  if (!it->is_barrier && (here[0] != sum || here[it->count - 1] != sum))
    give_up("an allreduce brought something else");
  return end - begin;
}

static void expect_revoked(int code) {
  int error_class = MPI_SUCCESS;
  PMPI_Error_class(code, &error_class);
  if (error_class != MPIX_ERR_REVOKED) give_up("an operation was not interrupted by a revocation");
}

static void wait_a_moment(void) {
  const struct timespec moment = {pause_us / 1000000, pause_us % 1000000 * 1000L};
  if (pause_us > 0) nanosleep(&moment, NULL);
}

/* Those before, minus the begin and the end of the interrupted one, those after. */
static void sample(Way way, const Case* it, double* times) {
  MPI_Comm plan_a = make_communicator(way);
  for (int i = 0; i < warm_ups; ++i) time_call(way, it, plan_a);
  for (int i = 0; i < before; ++i) *times++ = time_call(way, it, plan_a);
  PMPI_Barrier(base);
  *times = -DBL_MAX;
  if (rank == it->initiator) {
    wait_a_moment();
    *times = -now_us();
    revoke(way, plan_a);
  } else {
    expect_revoked(call(way, it, plan_a));
  }
  *++times = now_us();
  for (int i = 0; i < after; ++i) *++times = time_call(way, it, plan_b[way]);
  /* Who waits in the barrier takes the processor from those in the last call. */
  for (int i = 0; i < warm_ups; ++i) time_call(way, it, plan_b[way]);
  PMPI_Barrier(base);
  free_communicator(way, &plan_a);
}

static void print_sample(int number, int way, const double* times) {
  printf("sample %d %d", number, way);
  for (int i = 0; i < before; ++i) printf(" %.3f", times[i]);
  printf(" %.3f", times[before + 1] + times[before]);
  for (int i = 0; i < after; ++i) printf(" %.3f", times[before + 2 + i]);
  printf("\n");
}

static void measure(void) {
  const int length = before + 2 + after;
  const int per_round = case_count * ways;
  const int count = rounds * per_round * length;
  double* own = room_for((size_t)count, sizeof *own);
  double* latest = room_for((size_t)count, sizeof *latest);
  for (int round = 0; round < rounds; ++round) {
    for (int number = 0; number < case_count; ++number) {
      const int first = below(ways);
      for (int turn = 0; turn < ways; ++turn) {
        const int way = (first + turn) % ways;
        sample((Way)way, &cases[number], own + (round * per_round + number * ways + way) * length);
      }
    }
    if (rank == 0) {
      printf("at %d\n", round + 1);
      fflush(stdout);
    }
  }
  PMPI_Allreduce(own, latest, count, MPI_DOUBLE, MPI_MAX, base);
  for (int i = 0; rank == 0 && i < rounds * per_round; ++i)
    print_sample(i % per_round / ways, i % ways, latest + i * length);
  free(own);
  free(latest);
}

static Case read_case(const char* text) {
  char operation[16];
  int bytes = 0;
  Case it = {0, 0, 0};
  if (sscanf(text, "%15[a-z]:%d:%d", operation, &bytes, &it.initiator) != 3)
    give_up("a case is OPERATION:BYTES:INITIATOR");
  it.is_barrier = strcmp(operation, "barrier") == 0;
  it.count = bytes < 8 ? 1 : bytes / 8;
  return it;
}

static void read_arguments(int argc, char** argv) {
  if (argc < 7 || argc - 6 > cases_max) give_up("arguments: see the head of this program");
  rounds = atoi(argv[1]);
  before = atoi(argv[2]);
  after = atoi(argv[3]);
  pause_us = atoi(argv[4]);
  seed = strtoull(argv[5], NULL, 10);
  case_count = argc - 6;
  for (int i = 0; i < case_count; ++i) cases[i] = read_case(argv[6 + i]);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  read_arguments(argc, argv);
  int count_max = 1;
  for (int i = 0; i < case_count; ++i)
    if (cases[i].count > count_max) count_max = cases[i].count;
  there = room_for((size_t)count_max, sizeof *there);
  here = room_for((size_t)count_max, sizeof *here);
  for (int i = 0; i < count_max; ++i) there[i] = rank + 1;
  PMPI_Comm_split(MPI_COMM_WORLD, 0, rank, &base);
  for (int way = 0; way < ways; ++way) {
    plan_b[way] = make_communicator((Way)way);
    for (int i = 0; i < case_count; ++i) time_call((Way)way, &cases[i], plan_b[way]);
  }
  measure();
  for (int way = 0; way < ways; ++way) free_communicator((Way)way, &plan_b[way]);
  PMPI_Comm_free(&base);
  if (rank == 0) puts("done");
  MPI_Finalize();
  return 0;
}

#else

int main(void) {
  fprintf(stderr, "bench: this MPI has no ULFM\n");
  return 1;
}

#endif
