/* Gathers, scatters, exchanges and scans at the edge of what they are for.
 *
 *   block_edges mistakes|between|lost
 *
 * mistakes   arguments that are not valid give the errors that MPI has for them
 * between    inter-communicators work as MPI's own
 * lost       for RESPROUT_ON_LOSS=error: rank 1 dies, and every call returns the loss
 */
#include <mpi.h>
#include <resprout/resprout.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define CHECK(condition)                                                            \
  do {                                                                              \
    if (!(condition)) {                                                             \
      fprintf(stderr, "WRONG: rank %d, line %d: %s\n", rank, __LINE__, #condition); \
      fflush(stderr);                                                               \
      _exit(1);                                                                     \
    }                                                                               \
  } while (0)

enum { ranks_max = 16 };
static int rank, size;
static int out[4 * ranks_max], in[4 * ranks_max], ones[ranks_max], places[ranks_max];
static int negative[ranks_max];
static MPI_Datatype types[ranks_max];

static int class_of(int code) {
  int class;
  MPI_Error_class(code, &class);
  return class;
}

static int is_failed(int code) {
  char text[MPI_MAX_ERROR_STRING];
  int length;
  MPI_Error_string(code, text, &length);
  return code != MPI_SUCCESS && strstr(text, "PROC_FAILED");
}

/* A mistake, and the one that MPI makes of it. */
#define MISTAKE(name, ...)                                                      \
  do {                                                                          \
    int class = class_of(MPI_##name(__VA_ARGS__));                              \
    CHECK(class != MPI_SUCCESS && class == class_of(PMPI_##name(__VA_ARGS__))); \
  } while (0)

static void make_mistakes(MPI_Comm c) {
  const MPI_Datatype t = MPI_INT;
  MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN);
  MISTAKE(Gather, out, -1, t, in, 1, t, 0, c);
  MISTAKE(Gather, out, 1, t, in, 1, t, size, c);
  MISTAKE(Gatherv, out, 1, t, in, ones, places, t, -7, c);
  MISTAKE(Scatter, out, 1, t, in, -1, t, size, c);
  MISTAKE(Scatterv, out, ones, places, t, in, 1, t, size, c);
  MISTAKE(Allgather, out, -1, t, in, 1, t, c);
  MISTAKE(Allgather, out, 1, MPI_DATATYPE_NULL, in, 1, t, c);
  MISTAKE(Alltoall, out, 1, t, in, -1, t, c);
  MISTAKE(Scan, out, in, -1, t, MPI_SUM, c);
  MISTAKE(Exscan, out, in, 1, t, MPI_OP_NULL, c);
  MISTAKE(Reduce_scatter, out, in, negative, t, MPI_SUM, c);
  MISTAKE(Reduce_scatter_block, out, in, -1, t, MPI_SUM, c);
  /* More comes than there is room for: the rest of the buffer stays as it was. */
  memset(in, 0xff, sizeof in);
  CHECK(class_of(MPI_Allgather(out, 2, t, in, 1, t, c)) == MPI_ERR_TRUNCATE);
  for (int i = 0; i < 4 * ranks_max; ++i) CHECK(in[i] == -1);
  /* After all these mistakes all goes on. */
  out[0] = rank;
  CHECK(MPI_Allgather(out, 1, t, in, 1, t, c) == MPI_SUCCESS);
  for (int r = 0; r < size; ++r) CHECK(in[r] == r);
}

/* The lower half and the upper half of the ranks, of equal size. */
static void go_between(void) {
  MPI_Comm half, between;
  int is_upper = rank >= size / 2, first = is_upper ? 0 : size / 2, remote;
  MPI_Comm_split(MPI_COMM_WORLD, is_upper, rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, is_upper ? 0 : size / 2, 0, &between);
  MPI_Comm_remote_size(between, &remote);
  out[0] = rank;
  CHECK(MPI_Allgather(out, 1, MPI_INT, in, 1, MPI_INT, between) == MPI_SUCCESS);
  for (int r = 0; r < remote; ++r) CHECK(in[r] == first + r);
  for (int r = 0; r < remote; ++r) out[r] = 100 * rank + r;
  CHECK(MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, between) == MPI_SUCCESS);
  for (int r = 0; r < remote; ++r) CHECK(in[r] == 100 * (first + r) + rank % (size / 2));
  int root = is_upper ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL;
  CHECK(MPI_Gather(out, 1, MPI_INT, in, 1, MPI_INT, root, between) == MPI_SUCCESS);
  if (rank == 0)
    for (int r = 0; r < remote; ++r) CHECK(in[r] == 100 * (first + r));
  MPI_Group group;
  MPI_Comm_set_errhandler(between, MPI_ERRORS_RETURN);
  CHECK(class_of(resprout_contributors(between, &group)) == MPI_ERR_COMM);
  CHECK(class_of(resprout_on_missing(between, NULL, NULL)) == MPI_ERR_COMM);
  MPI_Comm_free(&between);
  MPI_Comm_free(&half);
}

#define FAILS(call) CHECK(is_failed(call))

static void lose(MPI_Comm c) {
  const MPI_Datatype t = MPI_INT;
  MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN);
  MPI_Barrier(c);
  if (rank == 1) kill(getpid(), SIGKILL);
  FAILS(MPI_Barrier(c)); /* from here on all know it */
  FAILS(MPI_Gather(out, 1, t, in, 1, t, 0, c));
  FAILS(MPI_Gatherv(out, 1, t, in, ones, places, t, 0, c));
  FAILS(MPI_Allgather(out, 1, t, in, 1, t, c));
  FAILS(MPI_Scatter(out, 1, t, in, 1, t, 0, c));
  FAILS(MPI_Scatterv(out, ones, places, t, in, 1, t, 0, c));
  FAILS(MPI_Allgatherv(out, 1, t, in, ones, places, t, c));
  FAILS(MPI_Alltoall(out, 1, t, in, 1, t, c));
  FAILS(MPI_Alltoallv(out, ones, places, t, in, ones, places, t, c));
  FAILS(MPI_Alltoallw(out, ones, places, types, in, ones, places, types, c));
  FAILS(MPI_Scan(out, in, 1, t, MPI_SUM, c));
  FAILS(MPI_Exscan(out, in, 1, t, MPI_SUM, c));
  FAILS(MPI_Reduce_scatter(out, in, ones, t, MPI_SUM, c));
  FAILS(MPI_Reduce_scatter_block(out, in, 1, t, MPI_SUM, c));
}

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int r = 0; r < ranks_max; ++r) {
    ones[r] = 1;
    negative[r] = -1;
    places[r] = r;
    types[r] = MPI_INT;
  }
  if (strcmp(argv[1], "mistakes") == 0) make_mistakes(MPI_COMM_WORLD);
  if (strcmp(argv[1], "between") == 0) go_between();
  if (strcmp(argv[1], "lost") == 0) lose(MPI_COMM_WORLD);
  printf("%s\n", argv[1]);
  MPI_Finalize();
  return 0;
}
