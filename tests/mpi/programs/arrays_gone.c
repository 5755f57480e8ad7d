/* Persistent collectives whose arrays of counts, displacements and datatypes are gone when they
 * start, as programs have it that convert them for the call. Each is started several times; every
 * rank gives `rank + 1` elements, or as many as the receiver's rank plus one.
 *
 *     arrays_gone ROUNDS
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { size_max = 16, room = size_max * size_max };

static int rank, size, rounds;
static int given[room], got[room];

/* What stands for the array in the call, and is gone afterwards. */
static void* passing[8];
static size_t passing_bytes[8];
static int passing_count;

static void* pass(const void* array, size_t bytes) {
  void* copy = malloc(bytes);
  memcpy(copy, array, bytes);
  passing_bytes[passing_count] = bytes;
  passing[passing_count++] = copy;
  return copy;
}

static void forget_arrays(void) {
  while (passing_count > 0) {
    --passing_count;
    memset(passing[passing_count], 0x7f, passing_bytes[passing_count]);
    free(passing[passing_count]);
  }
}

static void check(int is_right, const char* what) {
  if (is_right) return;
  fprintf(stderr, "WRONG on rank %d: %s\n", rank, what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

/* In `got` there is, from `first` on, what rank `from` gives for `to`: `count` elements. */
static int is_from(int from, int to, int first, int count) {
  for (int i = 0; i < count; ++i)
    if (got[first + i] != 1000 * from + 10 * to + i % 10) return 0;
  return 1;
}

static void give(int to, int first, int count) {
  for (int i = 0; i < count; ++i) given[first + i] = 1000 * rank + 10 * to + i % 10;
}

/* Counts 1, 2, 3 ..., one behind the other; in bytes for the w-forms. */
static int counts[size_max], displs[size_max], byte_displs[size_max], same[size_max];
static int same_displs[size_max], same_byte_displs[size_max];
static MPI_Datatype types[size_max];

#define INTS(array) (const int*)pass(array, sizeof array)
#define TYPES (const MPI_Datatype*)pass(types, sizeof types)

static void each_start(MPI_Request* request, const char* name, int (*is_right)(void)) {
  forget_arrays();
  for (int round = 0; round < rounds; ++round) {
    memset(got, 0xff, sizeof got);
    check(MPI_Start(request) == MPI_SUCCESS, name);
    check(MPI_Wait(request, MPI_STATUS_IGNORE) == MPI_SUCCESS, name);
    check(is_right(), name);
  }
  check(MPI_Request_free(request) == MPI_SUCCESS, name);
}

/* Rank r has given r + 1 elements to all. */
static int has_all(void) {
  for (int r = 0; r < size; ++r)
    if (!is_from(r, 0, displs[r], r + 1)) return 0;
  return 1;
}
static int has_all_at_root(void) { return rank != size - 1 || has_all(); }
/* The root has given this rank as many as its number plus one. */
static int has_mine(void) { return is_from(0, rank, 0, rank + 1); }
/* And so have all. */
static int has_mine_of_all(void) {
  for (int r = 0; r < size; ++r)
    if (!is_from(r, rank, r * (rank + 1), rank + 1)) return 0;
  return 1;
}
static int has_sums(void) {
  for (int i = 0; i <= rank; ++i)
    if (got[i] != size * (displs[rank] + i)) return 0;
  return 1;
}

int main(int argc, char** argv) {
  MPI_Request request;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  rounds = argc > 1 ? atoi(argv[1]) : 3;
  for (int r = 0; r < size; ++r) {
    counts[r] = r + 1;
    displs[r] = r * (r + 1) / 2;
    byte_displs[r] = displs[r] * (int)sizeof(int);
    same[r] = rank + 1;
    same_displs[r] = r * (rank + 1);
    same_byte_displs[r] = same_displs[r] * (int)sizeof(int);
    types[r] = MPI_INT;
  }

  give(0, 0, rank + 1);
  MPI_Allgatherv_init(given, rank + 1, MPI_INT, got, INTS(counts), INTS(displs), MPI_INT,
                      MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  each_start(&request, "allgatherv", has_all);
  MPI_Gatherv_init(given, rank + 1, MPI_INT, got, INTS(counts), INTS(displs), MPI_INT, size - 1,
                   MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  each_start(&request, "gatherv", has_all_at_root);

  for (int r = 0; r < size; ++r) give(r, displs[r], r + 1);
  MPI_Scatterv_init(given, INTS(counts), INTS(displs), MPI_INT, got, rank + 1, MPI_INT, 0,
                    MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  each_start(&request, "scatterv", has_mine);
  MPI_Alltoallv_init(given, INTS(counts), INTS(displs), MPI_INT, got, INTS(same), INTS(same_displs),
                     MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  each_start(&request, "alltoallv", has_mine_of_all);
  MPI_Alltoallw_init(given, INTS(counts), INTS(byte_displs), TYPES, got, INTS(same),
                     INTS(same_byte_displs), TYPES, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  each_start(&request, "alltoallw", has_mine_of_all);

  for (int i = 0; i < displs[size - 1] + size; ++i) given[i] = i;
  MPI_Reduce_scatter_init(given, got, INTS(counts), MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL,
                          &request);
  each_start(&request, "reduce_scatter", has_sums);

  if (rank == 0) puts("right");
  MPI_Finalize();
  return 0;
}
