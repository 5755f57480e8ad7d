/* Persistent collectives of one communicator, which each rank starts in an order of its own: those
 * that were made in one go belong together. Some are started several times before others, beside
 * blocking and non-blocking ones; they are freed in an order of its own, too, and a few not at all.
 *
 *     starts ROUNDS [SEED] [stood-in-for]
 *
 * Every rank gives the same to a sum, and no two sums the same: so a sum says how many have given
 * something to it. With `stood-in-for`, who is lost has to be in each with what it gave to that
 * one before. Prints "right NUMBER" with how many are in the last one.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { sums = 6, kinds = sums + 3, elements = 40 };

static int rank, size;
static int is_stood_in_for;
static unsigned state;

static unsigned any(unsigned below) {
  state = state * 1664525u + 1013904223u;
  return (state >> 16) % below;
}

static void check(int is_right, const char* what) {
  if (is_right) return;
  fprintf(stderr, "WRONG on rank %d: %s\n", rank, what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void shuffle(int* order, int count) {
  for (int i = count - 1; i > 0; --i) {
    const int j = (int)any((unsigned)i + 1);
    const int kept = order[i];
    order[i] = order[j];
    order[j] = kept;
  }
}

static long given[kinds][elements], got[kinds][elements];
static MPI_Request requests[kinds];
static long rounds_of[kinds];
static long last_count;

/* The first `sums` are allreduce; then a broadcast, an allgather of one element, and a barrier. */
static void make(MPI_Comm comm) {
  for (int i = 0; i < sums; ++i)
    MPI_Allreduce_init(given[i], got[i], elements, MPI_LONG, MPI_SUM, comm, MPI_INFO_NULL,
                       &requests[i]);
  MPI_Bcast_init(given[sums], elements, MPI_LONG, 0, comm, MPI_INFO_NULL, &requests[sums]);
  MPI_Allgather_init(given[sums + 1], 1, MPI_LONG, got[sums + 1], 1, MPI_LONG, comm, MPI_INFO_NULL,
                     &requests[sums + 1]);
  MPI_Barrier_init(comm, MPI_INFO_NULL, &requests[sums + 2]);
}

static void fill(int kind) {
  ++rounds_of[kind];
  for (int i = 0; i < elements; ++i) {
    given[kind][i] = (kind + 1) * 1000 + rounds_of[kind];
    if (kind == sums && rank != 0) given[kind][i] = -1;
    got[kind][i] = -1;
  }
}

/* Nobody of another kind, or of another round, is in it: every one gives the same. */
static void look(int kind) {
  const long each = (kind + 1) * 1000 + rounds_of[kind];
  if (kind < sums && is_stood_in_for) {
    last_count = got[kind][0] / 1000 / (kind + 1);
    for (int i = 0; i < elements; ++i)
      check(got[kind][i] / 1000 == size * (kind + 1), "a sum with missing values");
  } else if (kind < sums) {
    last_count = got[kind][0] / each;
    for (int i = 0; i < elements; ++i)
      check(got[kind][i] == last_count * each && last_count >= 1 && last_count <= size, "a sum");
  } else if (kind == sums) {
    for (int i = 0; i < elements; ++i) check(given[kind][i] == each, "a broadcast");
  } else if (kind == sums + 1) {
    check(got[kind][rank] == each, "an allgather");
    for (int i = 0; i < size; ++i)
      check(got[kind][i] == each || got[kind][i] == -1, "an allgather");
  }
}

static void start_all(void) {
  int order[kinds];
  MPI_Request started[kinds];
  for (int i = 0; i < kinds; ++i) order[i] = i;
  shuffle(order, kinds);
  for (int i = 0; i < kinds; ++i) fill(i);
  for (int i = 0; i < kinds; ++i) started[i] = requests[order[i]];
  if (any(2) == 0) {
    check(MPI_Startall(kinds, started) == MPI_SUCCESS, "MPI_Startall");
  } else {
    for (int i = 0; i < kinds; ++i)
      check(MPI_Start(&requests[order[i]]) == MPI_SUCCESS, "MPI_Start");
  }
}

/* Waits for all in an order of its own, and starts one of them anew between. */
static void wait_all(void) {
  int order[kinds];
  for (int i = 0; i < kinds; ++i) order[i] = i;
  shuffle(order, kinds);
  for (int i = 0; i < kinds; ++i) {
    int is_over = 0;
    if (any(2) == 0)
      while (!is_over) MPI_Test(&requests[order[i]], &is_over, MPI_STATUS_IGNORE);
    else
      MPI_Wait(&requests[order[i]], MPI_STATUS_IGNORE);
    look(order[i]);
  }
}

/* One of them goes on while others, of any form, are called and are over. */
static void beside(MPI_Comm comm) {
  long one = 1, all = 0;
  MPI_Request request;
  fill(0);
  fill(1);
  const int is_later = any(2) == 0;
  if (!is_later) MPI_Start(&requests[rank % 2]);
  MPI_Allreduce(&one, &all, 1, MPI_LONG, MPI_SUM, comm);
  check(all >= 1 && all <= size, "a blocking one beside");
  if (is_later) MPI_Start(&requests[rank % 2]);
  MPI_Iallreduce(&one, &all, 1, MPI_LONG, MPI_SUM, comm, &request);
  MPI_Start(&requests[1 - rank % 2]);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  check(all >= 1 && all <= size, "a non-blocking one beside");
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  look(0);
  look(1);
}

int main(int argc, char** argv) {
  MPI_Comm comm;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int rounds = argc > 1 ? atoi(argv[1]) : 3;
  is_stood_in_for = argc > 3;
  state = (unsigned)(argc > 2 ? atoi(argv[2]) : 1) * 977u + (unsigned)rank;

  for (int round = 0; round < rounds; ++round) {
    int order[kinds];
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    make(comm);
    for (int i = 0; i < 3; ++i) {
      start_all();
      wait_all();
      beside(comm);
    }
    for (int i = 0; i < kinds; ++i) order[i] = i;
    shuffle(order, kinds);
    const int is_comm_first = any(2) == 0;
    if (is_comm_first) MPI_Comm_free(&comm);
    for (int i = 0; i < kinds; ++i)
      if (round % 2 == 0 || order[i] != rank % kinds) MPI_Request_free(&requests[order[i]]);
    if (!is_comm_first) MPI_Comm_free(&comm);
  }
  if (rank == 0) printf("right %ld\n", last_count);
  MPI_Finalize();
  return 0;
}
