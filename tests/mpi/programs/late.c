/* Processes that are late, which is no fault: one computes while all others wait for it in a
 * collective, so does the root of a broadcast, and then an operator takes its time, while nobody
 * can look after messages.
 *
 *   late MILLISECONDS
 *
 * Every result must contain everybody.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static int rank, size;
static int64_t milliseconds;

static int64_t now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

/* Without a call of MPI. */
static void compute(void) {
  for (int64_t until = now_ms() + milliseconds; now_ms() < until;) {
  }
}

static void check(int is_right, const char* what) {
  if (is_right) return;
  fprintf(stderr, "WRONG: rank %d: %s\n", rank, what);
  exit(1);
}

static void add_slowly(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)type;
  compute();
  for (int i = 0; i < *count; ++i) ((int64_t*)inout)[i] += ((int64_t*)in)[i];
}

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  milliseconds = strtoll(argv[1], NULL, 10);
  const int64_t everybody = ((int64_t)1 << size) - 1;
  int64_t mine = (int64_t)1 << rank, sum = 0;
  if (rank == size / 2) compute();
  MPI_Allreduce(&mine, &sum, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  check(sum == everybody, "the sum lacks somebody");
  if (rank == 0) compute();
  int64_t payload = rank == 0 ? 4711 : 0;
  MPI_Bcast(&payload, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
  check(payload == 4711, "the payload is another one");
  MPI_Op slow;
  MPI_Op_create(add_slowly, 1, &slow);
  MPI_Comm ends;
  const int is_end = rank == 0 || rank == size - 1;
  MPI_Comm_split(MPI_COMM_WORLD, is_end, rank, &ends);
  if (is_end) {
    MPI_Allreduce(&mine, &sum, 1, MPI_INT64_T, slow, ends);
    check(sum == (1 | mine | (int64_t)1 << (size - 1)), "the slow sum lacks somebody");
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Comm_free(&ends);
  MPI_Op_free(&slow);
  MPI_Finalize();
  return 0;
}
