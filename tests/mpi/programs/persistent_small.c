/* Small persistent collectives: results that are exact before and after a rank has died, and the
 * same at all ranks where it died in between.
 *
 *   persistent_small SEED ROUNDS VICTIM     the victim dies (SIGKILL) in that round, with some of
 * its collectives started and others not; -1: nobody does
 *
 * Some of each kind are made once. In each round all ranks start the same ones, each rank in an
 * order of its own, and complete them in another.
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "small_operations.h"

enum { MADE = 32, ROUNDS_AFTER = 40 };

static Operation made[MADE];
static MPI_Request requests[MADE];

static int make(Operation* it, MPI_Request* request) {
  const MPI_Comm w = MPI_COMM_WORLD;
  const MPI_Info no = MPI_INFO_NULL;
  const int n = it->count, root = it->root;
  const MPI_Datatype t = MPI_LONG;
  long *from = it->given, *to = it->got;
  switch (it->kind) {
    case SUM:
      return MPI_Allreduce_init(from, to, n, t, MPI_SUM, w, no, request);
    case GATHER:
      return MPI_Gather_init(from, n, t, to, n, t, root, w, no, request);
    case REDUCE:
      return MPI_Reduce_init(from, to, n, t, MPI_SUM, root, w, no, request);
    case SCAN:
      return MPI_Scan_init(from, to, n, t, MPI_SUM, w, no, request);
    case EXSCAN:
      return MPI_Exscan_init(from, to, n, t, MPI_SUM, w, no, request);
    case BCAST:
      return MPI_Bcast_init(to, n, t, root, w, no, request);
    case ALLGATHER:
      return MPI_Allgather_init(from, n, t, to, n, t, w, no, request);
    case ALLTOALL:
      return MPI_Alltoall_init(from, n, t, to, n, t, w, no, request);
    case BARRIER:
      return MPI_Barrier_init(w, no, request);
    case SCATTER:
      return MPI_Scatter_init(from, n, t, to, n, t, root, w, no, request);
    case GATHERV:
      return MPI_Gatherv_init(from, it->counts[rank], t, to, it->counts, it->places, t, root, w, no,
                              request);
    case SCATTERV:
      return MPI_Scatterv_init(from, it->counts, it->places, t, to, it->counts[rank], t, root, w,
                               no, request);
    case ALLGATHERV:
      return MPI_Allgatherv_init(from, it->counts[rank], t, to, it->counts, it->places, t, w, no,
                                 request);
    case ALLTOALLV:
      return MPI_Alltoallv_init(from, it->exchanged, it->places, t, to, it->exchanged, it->places,
                                t, w, no, request);
    case ALLTOALLW:
      return MPI_Alltoallw_init(from, it->exchanged, it->byte_places, it->types, to, it->exchanged,
                                it->byte_places, it->types, w, no, request);
    default:
      return MPI_Reduce_scatter_block_init(from, to, n, t, MPI_SUM, w, no, request);
  }
}

static void shuffle(int* order, int count) {
  for (int i = count - 1; i > 0; --i) {
    const int other = draw(&own_state, i + 1), kept = order[i];
    order[i] = order[other];
    order[other] = kept;
  }
}

static void complete(int i) {
  int flag = 0;
  if (draw(&own_state, 2))
    made[i].code |= MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
  else
    while (!flag) made[i].code |= MPI_Test(&requests[i], &flag, MPI_STATUS_IGNORE);
  expect(requests[i] != MPI_REQUEST_NULL, "the request", &made[i]);
}

/* Of each collective: whether all have the same. */
static void compare(int i) {
  const int outcome = outcome_of(&made[i], -1);
  int least = outcome == -1 ? 1 : outcome, most = outcome == -1 ? 0 : outcome;
  MPI_Allreduce(MPI_IN_PLACE, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  expect(least >= most, "what others have", &made[i]);
}

/* `must`: as of outcome_of. */
static void round_of(int number, int must) {
  int wanted[MADE], order[MADE], count = 0;
  for (int i = 0; i < MADE; ++i)
    if (draw(&shared_state, 3) == 0) wanted[count++] = i;
  const int dies_at = count ? draw(&shared_state, count) : 0;
  for (int k = 0; k < count; ++k) {
    Operation* it = &made[wanted[k]];
    it->number = number * MADE + wanted[k];
    prepare(it);
    order[k] = wanted[k];
  }
  shuffle(order, count);
  for (int k = 0; k < count; ++k) {
    if (must == -1 && rank == victim && k == dies_at) raise(SIGKILL);
    made[order[k]].code = MPI_Start(&requests[order[k]]);
    if (draw(&own_state, 8) == 0) usleep((unsigned)draw(&own_state, 300));
  }
  if (must == -1 && rank == victim) raise(SIGKILL);
  shuffle(order, count);
  for (int k = 0; k < count; ++k) complete(order[k]);
  for (int k = 0; k < count; ++k)
    if (must == -1)
      compare(wanted[k]);
    else
      outcome_of(&made[wanted[k]], must);
}

static void make_all(void) {
  for (int i = 0; i < MADE; ++i) {
    Operation* it = &made[i];
    it->kind = (enum kind)(i % KINDS);
    it->root = draw(&shared_state, size);
    it->count = draw(&shared_state, 4) == 0 ? COUNT_MAX : 1 + draw(&shared_state, 3);
    set_counts(it);
    expect(make(it, &requests[i]) == MPI_SUCCESS, "the making", it);
  }
}

static void free_all(void) {
  for (int i = 0; i < MADE; ++i) MPI_Request_free(&requests[i]);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (argc != 4 || size > RANKS_MAX) return 2;
  shared_state = strtoul(argv[1], NULL, 10);
  own_state = shared_state * 31 + (unsigned long)rank;
  const int rounds = atoi(argv[2]);
  victim = atoi(argv[3]);
  int number = 0;
  make_all();
  for (; number < rounds; ++number) {
    if (number % 50 == 49) { /* the areas of the old ones are used again */
      free_all();
      make_all();
    }
    round_of(number, 1);
  }
  if (victim >= 0) {
    round_of(number++, -1);
    for (int i = 0; i < ROUNDS_AFTER; ++i) round_of(number++, 0);
  }
  free_all();
  printf("rank %d has %d wrong results\n", rank, wrong);
  MPI_Finalize();
  return wrong != 0;
}
