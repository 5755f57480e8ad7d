/* Small collectives that are started and go on while others are: results that are exact before and
 * after a rank has died, and the same at all ranks where it died in between.
 *
 *   started_small SEED WINDOWS VICTIM     the victim dies (SIGKILL) in that window, with some of
 * its collectives started and others not; -1: nobody does
 *
 * In each window all ranks start the same collectives, blocking ones among them, and each rank
 * completes its own in an order and by calls of its own.
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "small_operations.h"

enum { OPEN_MAX = 7, WINDOWS_AFTER = 40 };

static int begin(Operation* it, MPI_Request* request) {
  const MPI_Comm w = MPI_COMM_WORLD;
  const int n = it->count, root = it->root, b = it->is_blocking;
  const MPI_Datatype t = MPI_LONG;
  long *from = it->given, *to = it->got;
  *request = MPI_REQUEST_NULL;
  switch (it->kind) {
    case SUM:
      return b ? MPI_Allreduce(from, to, n, t, MPI_SUM, w)
               : MPI_Iallreduce(from, to, n, t, MPI_SUM, w, request);
    case GATHER:
      return b ? MPI_Gather(from, n, t, to, n, t, root, w)
               : MPI_Igather(from, n, t, to, n, t, root, w, request);
    case REDUCE:
      return b ? MPI_Reduce(from, to, n, t, MPI_SUM, root, w)
               : MPI_Ireduce(from, to, n, t, MPI_SUM, root, w, request);
    case SCAN:
      return b ? MPI_Scan(from, to, n, t, MPI_SUM, w)
               : MPI_Iscan(from, to, n, t, MPI_SUM, w, request);
    case EXSCAN:
      return b ? MPI_Exscan(from, to, n, t, MPI_SUM, w)
               : MPI_Iexscan(from, to, n, t, MPI_SUM, w, request);
    case BCAST:
      return b ? MPI_Bcast(to, n, t, root, w) : MPI_Ibcast(to, n, t, root, w, request);
    case ALLGATHER:
      return b ? MPI_Allgather(from, n, t, to, n, t, w)
               : MPI_Iallgather(from, n, t, to, n, t, w, request);
    case ALLTOALL:
      return b ? MPI_Alltoall(from, n, t, to, n, t, w)
               : MPI_Ialltoall(from, n, t, to, n, t, w, request);
    case BARRIER:
      return b ? MPI_Barrier(w) : MPI_Ibarrier(w, request);
    case SCATTER:
      return b ? MPI_Scatter(from, n, t, to, n, t, root, w)
               : MPI_Iscatter(from, n, t, to, n, t, root, w, request);
    case GATHERV:
      return b ? MPI_Gatherv(from, it->counts[rank], t, to, it->counts, it->places, t, root, w)
               : MPI_Igatherv(from, it->counts[rank], t, to, it->counts, it->places, t, root, w,
                              request);
    case SCATTERV:
      return b ? MPI_Scatterv(from, it->counts, it->places, t, to, it->counts[rank], t, root, w)
               : MPI_Iscatterv(from, it->counts, it->places, t, to, it->counts[rank], t, root, w,
                               request);
    case ALLGATHERV:
      return b ? MPI_Allgatherv(from, it->counts[rank], t, to, it->counts, it->places, t, w)
               : MPI_Iallgatherv(from, it->counts[rank], t, to, it->counts, it->places, t, w,
                                 request);
    case ALLTOALLV:
      return b ? MPI_Alltoallv(from, it->exchanged, it->places, t, to, it->exchanged, it->places, t,
                               w)
               : MPI_Ialltoallv(from, it->exchanged, it->places, t, to, it->exchanged, it->places,
                                t, w, request);
    case ALLTOALLW:
      return b ? MPI_Alltoallw(from, it->exchanged, it->byte_places, it->types, to, it->exchanged,
                               it->byte_places, it->types, w)
               : MPI_Ialltoallw(from, it->exchanged, it->byte_places, it->types, to, it->exchanged,
                                it->byte_places, it->types, w, request);
    default:
      return b ? MPI_Reduce_scatter_block(from, to, n, t, MPI_SUM, w)
               : MPI_Ireduce_scatter_block(from, to, n, t, MPI_SUM, w, request);
  }
}

static void complete_one(MPI_Request* requests, Operation* open, int count) {
  const int first = draw(&own_state, count);
  int flag = 0, index = MPI_UNDEFINED, done = 0, indices[OPEN_MAX];
  MPI_Status statuses[OPEN_MAX];
  switch (draw(&own_state, 6)) {
    case 0:
      open[first].code |= MPI_Wait(&requests[first], MPI_STATUS_IGNORE);
      break;
    case 1:
      open[first].code |= MPI_Test(&requests[first], &flag, MPI_STATUS_IGNORE);
      break;
    case 2: {
      const int code = MPI_Waitany(count, requests, &index, MPI_STATUS_IGNORE);
      if (index != MPI_UNDEFINED) open[index].code |= code;
      break;
    }
    case 3: {
      const int code = MPI_Testsome(count, requests, &done, indices, statuses);
      for (int k = 0; code != MPI_SUCCESS && k < done; ++k)
        open[indices[k]].code |= statuses[k].MPI_ERROR;
      break;
    }
    case 4:
      if (requests[first] == MPI_REQUEST_NULL) break;
      MPI_Request_get_status(requests[first], &flag, MPI_STATUS_IGNORE);
      break;
    default:
      usleep((unsigned)draw(&own_state, 300));
  }
}

static void complete_all(MPI_Request* requests, Operation* open, int count) {
  for (int i = draw(&own_state, 2 * count); i > 0; --i) complete_one(requests, open, count);
  MPI_Status statuses[OPEN_MAX];
  const int code = MPI_Waitall(count, requests, statuses);
  for (int i = 0; code != MPI_SUCCESS && i < count; ++i) open[i].code |= statuses[i].MPI_ERROR;
  for (int i = 0; i < count; ++i) expect(requests[i] == MPI_REQUEST_NULL, "the request", &open[i]);
}

/* `must`: as of outcome_of. */
static void window(int number, int must) {
  static Operation open[OPEN_MAX];
  MPI_Request requests[OPEN_MAX];
  const int count = 1 + draw(&shared_state, OPEN_MAX);
  const int dies_at = draw(&shared_state, count);
  for (int i = 0; i < count; ++i) {
    Operation* it = &open[i];
    it->kind = (enum kind)draw(&shared_state, KINDS);
    it->root = draw(&shared_state, size);
    it->count = draw(&shared_state, 4) == 0 ? COUNT_MAX : 1 + draw(&shared_state, 3);
    it->is_blocking = draw(&shared_state, 6) == 0;
    it->number = number * OPEN_MAX + i;
    set_counts(it);
    prepare(it);
    if (must == -1 && rank == victim && i == dies_at) raise(SIGKILL);
    it->code = begin(it, &requests[i]);
    if (draw(&own_state, 5) == 0) complete_one(requests, open, i + 1);
  }
  complete_all(requests, open, count);
  for (int i = 0; i < count; ++i) {
    const int outcome = outcome_of(&open[i], must);
    if (must != -1) continue;
    int least = outcome == -1 ? 1 : outcome, most = outcome == -1 ? 0 : outcome;
    MPI_Allreduce(MPI_IN_PLACE, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    expect(least >= most, "what others have", &open[i]);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (argc != 4 || size > RANKS_MAX) return 2;
  shared_state = strtoul(argv[1], NULL, 10);
  own_state = shared_state * 31 + (unsigned long)rank;
  const int windows = atoi(argv[2]);
  victim = atoi(argv[3]);
  int number = 0;
  for (; number < windows; ++number) window(number, 1);
  if (victim >= 0) {
    window(number++, -1);
    for (int i = 0; i < WINDOWS_AFTER; ++i) window(number++, 0);
  }
  printf("rank %d has %d wrong results\n", rank, wrong);
  MPI_Finalize();
  return wrong != 0;
}
