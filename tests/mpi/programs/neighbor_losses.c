/* Neighborhood collectives of a ring that loses rank 1 in the midst of them, in every form: who has
 * only living neighbors gets all its data, from the first call to the last, and who has a lost one
 * gets what the living one gives, and is told.
 *
 *   neighbor_losses [ELEMENTS]      of each block; for 4 ranks or more
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kinds = 5, forms = 3, rounds = 12, loss_round = 3, victim = 1, untouched = -100 };

static int rank, size, count = 1;
static MPI_Comm ring;
static int *in, *out; /* of two blocks each */

static void wrong(int kind, int form, int round, const char* what) {
  fprintf(stderr, "WRONG: rank %d, kind %d, form %d, round %d: %s\n", rank, kind, form, round,
          what);
  fflush(stderr);
  _exit(1);
}

static int is_failed(int code) {
  int class = MPI_SUCCESS;
  char text[MPI_MAX_ERROR_STRING];
  int length;
  MPI_Error_class(code, &class);
  MPI_Error_string(class, text, &length);
  return strstr(text, "PROC_FAILED") != NULL;
}

static int counts[2], places[2];
static MPI_Aint at[2];
static MPI_Datatype types[2] = {MPI_INT, MPI_INT};
static MPI_Request persistent[kinds];

/* In kinds 0 and 1 both neighbors get the first block. */
static int run(int kind, int form) {
  const MPI_Datatype n = MPI_INT;
  MPI_Request r = MPI_REQUEST_NULL;
  int code = MPI_SUCCESS;
  if (form == 2) {
    r = persistent[kind];
    code = MPI_Start(&r);
    return code != MPI_SUCCESS ? code : MPI_Wait(&r, MPI_STATUS_IGNORE);
  }
  if (form == 0) {
    if (kind == 0) return MPI_Neighbor_allgather(in, count, n, out, count, n, ring);
    if (kind == 1) return MPI_Neighbor_allgatherv(in, count, n, out, counts, places, n, ring);
    if (kind == 2) return MPI_Neighbor_alltoall(in, count, n, out, count, n, ring);
    if (kind == 3)
      return MPI_Neighbor_alltoallv(in, counts, places, n, out, counts, places, n, ring);
    return MPI_Neighbor_alltoallw(in, counts, at, types, out, counts, at, types, ring);
  }
  if (kind == 0) code = MPI_Ineighbor_allgather(in, count, n, out, count, n, ring, &r);
  if (kind == 1) code = MPI_Ineighbor_allgatherv(in, count, n, out, counts, places, n, ring, &r);
  if (kind == 2) code = MPI_Ineighbor_alltoall(in, count, n, out, count, n, ring, &r);
  if (kind == 3)
    code = MPI_Ineighbor_alltoallv(in, counts, places, n, out, counts, places, n, ring, &r);
  if (kind == 4)
    code = MPI_Ineighbor_alltoallw(in, counts, at, types, out, counts, at, types, ring, &r);
  return code != MPI_SUCCESS ? code : MPI_Wait(&r, MPI_STATUS_IGNORE);
}

static void make_persistent(void) {
  const MPI_Datatype n = MPI_INT;
  const MPI_Info info = MPI_INFO_NULL;
  MPI_Neighbor_allgather_init(in, count, n, out, count, n, ring, info, &persistent[0]);
  MPI_Neighbor_allgatherv_init(in, count, n, out, counts, places, n, ring, info, &persistent[1]);
  MPI_Neighbor_alltoall_init(in, count, n, out, count, n, ring, info, &persistent[2]);
  MPI_Neighbor_alltoallv_init(in, counts, places, n, out, counts, places, n, ring, info,
                              &persistent[3]);
  MPI_Neighbor_alltoallw_init(in, counts, at, types, out, counts, at, types, ring, info,
                              &persistent[4]);
}

static int value(int of_rank, int way, int round) { return 10000 * of_rank + 10 * round + way; }

static void check(int kind, int form, int round, int code) {
  const int neighbors[2] = {(rank + size - 1) % size, (rank + 1) % size};
  int has_lost = 0;
  for (int way = 0; way < 2; ++way) {
    const int given = kind < 2 ? 0 : 1 - way, expected = value(neighbors[way], given, round);
    const int first = out[way * count], last = out[(way + 1) * count - 1];
    const int is_lost = neighbors[way] == victim && round >= loss_round;
    has_lost |= is_lost;
    if (!is_lost && (first != expected || last != expected)) wrong(kind, form, round, "data");
    if (is_lost && first != untouched) wrong(kind, form, round, "a block of the lost");
  }
  if (has_lost ? !is_failed(code) : code != MPI_SUCCESS)
    wrong(kind, form, round, "what it returns");
}

int main(int argc, char** argv) {
  const int periods[1] = {1};
  int dims[1], one = 1, sum = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (argc > 1) count = atoi(argv[1]);
  dims[0] = size;
  counts[0] = counts[1] = places[1] = count;
  at[1] = (MPI_Aint)count * (MPI_Aint)sizeof(int);
  in = malloc(2 * (size_t)count * sizeof *in);
  out = malloc(2 * (size_t)count * sizeof *out);
  MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &ring);
  make_persistent();
  for (int round = 0; round < rounds; ++round) {
    if (round == loss_round && rank == victim) raise(SIGKILL);
    for (int kind = 0; kind < kinds; ++kind)
      for (int form = 0; form < forms; ++form) {
        for (int i = 0; i < 2 * count; ++i) {
          in[i] = value(rank, i / count, round);
          out[i] = untouched;
        }
        check(kind, form, round, run(kind, form));
      }
  }
  for (int kind = 0; kind < kinds; ++kind) MPI_Request_free(&persistent[kind]);
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, ring);
  if (sum != size - 1) wrong(0, 0, rounds, "who is left");
  MPI_Comm_free(&ring);
  MPI_Finalize();
  printf("rank %d is through\n", rank);
  return 0;
}
