/* Blocking exchanges of which no rank knows what the others give, little and much by turns: results
 * that are exact before and after a rank has died.
 *
 *   uneven_exchanges SEED CALLS VICTIM     the victim dies (SIGKILL) before half of the calls; -1:
 * nobody does
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

enum { RANKS_MAX = 8, WIDE = 701, PLACES = RANKS_MAX * WIDE };

static int rank, size, wrong;
static unsigned long state;
static int counts[RANKS_MAX], places[RANKS_MAX], byte_places[RANKS_MAX];
static MPI_Datatype types[RANKS_MAX];
static long given[PLACES], got[PLACES];

static int draw(int below) {
  state = state * 6364136223846793005UL + 1442695040888963407UL;
  return (int)((state >> 33) % (unsigned long)below);
}

/* What one rank gives to another at place i of its part. */
static long given_by(int from, int to, int call, int i) {
  return 1000000L * call + 10000L * from + 1000L * to + i;
}

static void prepare(int call, int is_wide) {
  for (int r = 0; r < RANKS_MAX; ++r) {
    counts[r] = is_wide && (rank + r) % 3 == 0 ? WIDE : (call + rank + r) % 4;
    for (int i = 0; i < WIDE; ++i) {
      given[r * WIDE + i] = given_by(rank, r, call, i);
      got[r * WIDE + i] = -7;
    }
  }
}

static int exchange(int form) {
  const MPI_Comm w = MPI_COMM_WORLD;
  const MPI_Datatype t = MPI_LONG;
  if (form == 0) return MPI_Alltoallv(given, counts, places, t, got, counts, places, t, w);
  if (form == 1)
    return MPI_Alltoallw(given, counts, byte_places, types, got, counts, byte_places, types, w);
  for (int i = 0; i < PLACES; ++i) got[i] = given[i];
  return MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, t, got, counts, places, t, w);
}

/* `lost`: who has given nothing, or -1. */
static void check(int call, int form, int lost) {
  for (int r = 0; r < RANKS_MAX; ++r)
    for (int i = 0; i < WIDE; ++i) {
      const int is_there = r < size && r != lost && i < counts[r];
      const long before = form == 2 ? given[r * WIDE + i] : -7;
      const long expected = is_there ? given_by(r, rank, call, i) : before;
      if (got[r * WIDE + i] == expected) continue;
      if (wrong++ == 0)
        printf("rank %d: call %d, place %d of rank %d is wrong\n", rank, call, i, r);
    }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (argc != 4 || size > RANKS_MAX) return 2;
  state = strtoul(argv[1], NULL, 10);
  const int calls = atoi(argv[2]), victim = atoi(argv[3]);
  for (int r = 0; r < RANKS_MAX; ++r) {
    places[r] = r * WIDE;
    byte_places[r] = places[r] * (int)sizeof(long);
    types[r] = MPI_LONG;
  }
  for (int call = 0; call < calls; ++call) {
    const int form = draw(3), is_wide = draw(12) == 0, is_lost = call >= calls / 2;
    prepare(call, is_wide);
    if (is_lost && rank == victim) raise(SIGKILL);
    if (exchange(form) != MPI_SUCCESS) ++wrong;
    check(call, form, is_lost ? victim : -1);
  }
  printf("rank %d has %d wrong results\n", rank, wrong);
  MPI_Finalize();
  return wrong != 0;
}
