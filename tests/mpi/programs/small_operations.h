/* Small collectives of which each rank knows what it is to get, whether a certain rank has taken
 * part or not.
 */
#ifndef SMALL_OPERATIONS_H
#define SMALL_OPERATIONS_H

#include <mpi.h>
#include <stdio.h>
#include <string.h>

/* What is wide does not fit into any slot. */
enum { RANKS_MAX = 16, COUNT_MAX = 20, WIDE = 561, PLACES = RANKS_MAX * WIDE, KINDS = 16 };
enum kind {
  SUM,
  GATHER,
  REDUCE,
  SCAN,
  EXSCAN,
  BCAST,
  ALLGATHER,
  ALLTOALL,
  BARRIER,
  SCATTER,
  GATHERV,
  SCATTERV,
  ALLGATHERV,
  ALLTOALLV,
  ALLTOALLW,
  SHARES
};

typedef struct {
  enum kind kind;
  int root, count, number, is_blocking;
  int counts[RANKS_MAX], places[RANKS_MAX];         /* by rank, of those that have them */
  int exchanged[RANKS_MAX], byte_places[RANKS_MAX]; /* with that rank, in exchanges */
  MPI_Datatype types[RANKS_MAX];
  long given[PLACES], got[PLACES];
  int code;
} Operation;

static int rank, size, victim, wrong;
static unsigned long shared_state, own_state;

static int draw(unsigned long* state, int below) {
  *state = *state * 6364136223846793005UL + 1442695040888963407UL;
  return (int)((*state >> 33) % (unsigned long)below);
}

static void expect(int condition, const char* what, const Operation* it) {
  if (condition) return;
  ++wrong;
  printf("rank %d: %s of operation %d, a %d, is wrong\n", rank, what, it->number, (int)it->kind);
}

static long given_by(int r, const Operation* it, int i) {
  return 1000L * it->number + 10 * r + i % 10;
}

/* Some give nothing, and in some one gives much. */
static void set_counts(Operation* it) {
  for (int r = 0; r < RANKS_MAX; ++r) {
    const int is_wide = it->count == COUNT_MAX && r % 3 == it->root % 3;
    it->counts[r] = is_wide ? WIDE : (it->count + r) % 4;
    it->places[r] = r * WIDE;
    it->byte_places[r] = it->places[r] * (int)sizeof(long);
    it->types[r] = MPI_LONG;
  }
  for (int r = 0; r < RANKS_MAX; ++r) it->exchanged[r] = it->counts[(rank + r) % RANKS_MAX];
}

static int has_counts(const Operation* it) { return it->kind >= GATHERV && it->kind <= ALLTOALLW; }

static int places_of(const Operation* it) {
  return has_counts(it) ? PLACES : RANKS_MAX * COUNT_MAX;
}

static void prepare(Operation* it) {
  for (int i = 0; i < places_of(it); ++i) {
    it->given[i] = given_by(rank, it, i);
    it->got[i] = -7;
  }
  if (it->kind == BCAST && rank == it->root) memcpy(it->got, it->given, sizeof it->got);
}

/* Of those who give, ranks below `end`, at place i of what each gives. */
static long sum_of(const Operation* it, int end, int has_victim, int i) {
  long sum = 0;
  for (int r = 0; r < end; ++r) sum += r == victim && !has_victim ? 0 : given_by(r, it, i);
  return sum;
}

/* What stands at place i if the victim has taken part, or not; -7: nothing was written. */
static long expected(const Operation* it, int has_victim, int i) {
  const int n = it->count, each = has_counts(it) ? WIDE : n, from = i / each, at = i % each;
  const int is_exchange = it->kind == ALLTOALLV || it->kind == ALLTOALLW;
  const int is_full = has_counts(it) && at >= (is_exchange ? it->exchanged : it->counts)[from];
  const int is_there = from < size && (has_victim || from != victim) && !is_full;
  const int is_root = rank == it->root, is_root_there = has_victim || it->root != victim;
  switch (it->kind) {
    case SUM:
      return i < n ? sum_of(it, size, has_victim, i) : -7;
    case REDUCE:
      return is_root && i < n ? sum_of(it, size, has_victim, i) : -7;
    case SCAN:
      return i < n ? sum_of(it, rank + 1, has_victim, i) : -7;
    case EXSCAN:
      return i < n && rank != 0 && (rank != 1 || victim != 0 || has_victim)
                 ? sum_of(it, rank, has_victim, i)
                 : -7;
    case GATHER:
      return is_root && is_there ? given_by(from, it, at) : -7;
    case ALLGATHER:
      return is_there ? given_by(from, it, at) : -7;
    case ALLTOALL:
      return is_there ? given_by(from, it, rank * n + at) : -7;
    case BCAST:
      if (is_root) return given_by(rank, it, i);
      return i < n && is_root_there ? given_by(it->root, it, i) : -7;
    case SCATTER:
      return i < n && is_root_there ? given_by(it->root, it, rank * n + i) : -7;
    case GATHERV:
      return is_root && is_there ? given_by(from, it, at) : -7;
    case ALLGATHERV:
      return is_there ? given_by(from, it, at) : -7;
    case ALLTOALLV:
    case ALLTOALLW:
      return is_there ? given_by(from, it, rank * WIDE + at) : -7;
    case SCATTERV:
      return i < it->counts[rank] && is_root_there ? given_by(it->root, it, rank * WIDE + i) : -7;
    case SHARES:
      return i < n ? sum_of(it, size, has_victim, rank * n + i) : -7;
    default:
      return -7;
  }
}

static int is_as_expected(const Operation* it, int has_victim) {
  for (int i = 0; i < places_of(it); ++i)
    if (it->got[i] != expected(it, has_victim, i)) return 0;
  return 1;
}

/* 1: the victim has taken part, 0: it has not, -1: nobody can tell here. `must`: -1: either. */
static int outcome_of(const Operation* it, int must) {
  const int with = is_as_expected(it, 1), without = is_as_expected(it, 0);
  const int lacks_root =
      it->root == victim && (it->kind == BCAST || it->kind == SCATTER || it->kind == SCATTERV);
  if (must == 1) expect(with && it->code == MPI_SUCCESS, "what all have given", it);
  if (must == 0) expect(without, "what the others have given", it);
  if (must == 0 && (lacks_root || it->root != victim))
    expect((it->code != MPI_SUCCESS) == lacks_root, "the code", it);
  expect(with || without, "the result", it);
  return with && without ? -1 : with;
}

#endif
