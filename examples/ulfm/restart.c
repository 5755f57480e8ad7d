// ULFM's third way: everybody goes back to a checkpoint in the memory of others.
//
//   resprout run -n 8 --on-loss error --inject kill:count=2,seed=1,within=1s -- restart [STEPS]
//
// Heat that spreads along a rod of many pieces. Every hundred steps each process gives a copy of
// its pieces to its buddy, the next one. When somebody dies all shrink, put the rod together from
// what the living have of the last checkpoint, and go on from there with more pieces each. The
// result is that of a run in which nobody dies. If a process and its buddy are lost together the
// rod begins anew.
#include <mpi.h>

#include <mpi-ext.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { pieces = 24, cells = 64, interval = 100 };
typedef double Piece[cells];

// The pieces of one process, from `first` on, at one time.
typedef struct {
  int first, count, step;
  Piece piece[pieces];
} State;

static MPI_Comm comm;
static int rank, size;
static State own, buddys;  // at the last checkpoint: this process's, and the copy of the one before

static void look_at(MPI_Comm now) {
  comm = now;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
}

// The pieces of process `who`, out of the whole rod.
static void take(State* into, Piece* rod, int who, int step) {
  into->first = who * pieces / size;
  into->count = (who + 1) * pieces / size - into->first;
  into->step = step;
  memcpy(into->piece, rod + into->first, (size_t)into->count * sizeof(Piece));
}

static void deal(Piece* rod, int step) {
  take(&own, rod, rank, step);
  take(&buddys, rod, (rank + size - 1) % size, step);
}

static void begin(void) {
  static Piece rod[pieces];
  rod[0][0] = 1000.0;
  deal(rod, 0);
}

// The same answer everywhere: it went well everywhere.
static int agree(int is_well) {
  if (!is_well) MPIX_Comm_revoke(comm);
  MPIX_Comm_agree(comm, &is_well);
  return is_well;
}

// Borders go to both neighbors; the rod is insulated at its ends.
static int step(State* state) {
  double* cell = state->piece[0];
  const int length = state->count * cells;
  const int before = rank > 0 ? rank - 1 : MPI_PROC_NULL;
  const int after = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
  double left = cell[0];
  double right = cell[length - 1];
  if (MPI_Sendrecv(&cell[length - 1], 1, MPI_DOUBLE, after, 1, &left, 1, MPI_DOUBLE, before, 1,
                   comm, MPI_STATUS_IGNORE) != MPI_SUCCESS ||
      MPI_Sendrecv(&cell[0], 1, MPI_DOUBLE, before, 2, &right, 1, MPI_DOUBLE, after, 2, comm,
                   MPI_STATUS_IGNORE) != MPI_SUCCESS)
    return 0;
  for (int i = 0; i < length; ++i) {
    const double here = cell[i];
    const double next = i + 1 < length ? cell[i + 1] : right;
    cell[i] = here + 0.25 * (left - 2.0 * here + next);
    left = here;
  }
  ++state->step;
  return 1;
}

// Up to the next checkpoint, and that. Until all agree that they have it, the old one counts.
static int advance(void) {
  static State now, copy;
  int is_well = 1;
  now = own;
  for (int i = 0; is_well && i < interval; ++i) is_well = step(&now);
  is_well = is_well && MPI_Sendrecv(&now, sizeof now, MPI_BYTE, (rank + 1) % size, 3, &copy,
                                    sizeof copy, MPI_BYTE, (rank + size - 1) % size, 3, comm,
                                    MPI_STATUS_IGNORE) == MPI_SUCCESS;
  if (!agree(is_well)) return 0;
  own = now;
  buddys = copy;
  return 1;
}

// Who has a piece of the last checkpoint: 2 its owner, 1 only its owner's buddy, 0 nobody.
static int find_pieces(int* best) {
  int mine[pieces] = {0};
  for (int i = 0; i < buddys.count; ++i) mine[buddys.first + i] = 1;
  for (int i = 0; i < own.count; ++i) mine[own.first + i] = 2;
  return MPI_Allreduce(mine, best, pieces, MPI_INT, MPI_MAX, comm) == MPI_SUCCESS;
}

static void give(Piece* rod, const State* state, const int* best, int as) {
  for (int i = 0; i < state->count; ++i)
    if (best[state->first + i] == as) memcpy(rod[state->first + i], state->piece[i], sizeof *rod);
}

// The whole rod at the last checkpoint, dealt out among who is left. Fails if somebody dies.
static int restore(void) {
  static Piece rod[pieces];
  int best[pieces];
  memset(rod, 0, sizeof rod);
  int is_well = find_pieces(best);
  if (is_well) {
    give(rod, &own, best, 2);
    give(rod, &buddys, best, 1);
    is_well =
        MPI_Allreduce(MPI_IN_PLACE, rod, pieces * cells, MPI_DOUBLE, MPI_SUM, comm) == MPI_SUCCESS;
  }
  if (!agree(is_well)) return 0;
  for (int i = 0; i < pieces; ++i) {
    if (best[i] != 0) continue;
    begin();
    return 1;
  }
  deal(rod, own.step);
  return 1;
}

static void recover(void) {
  do {
    MPI_Comm shrunken;
    MPIX_Comm_shrink(comm, &shrunken);
    if (comm != MPI_COMM_WORLD) MPI_Comm_free(&comm);
    look_at(shrunken);
  } while (!restore());
}

static int report(void) {
  double sums[2] = {0.0, 0.0};  // heat, heat times place
  for (int i = 0; i < own.count * cells; ++i) {
    sums[0] += own.piece[0][i];
    sums[1] += own.piece[0][i] * (own.first * cells + i);
  }
  if (!agree(MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_DOUBLE, MPI_SUM, comm) == MPI_SUCCESS))
    return 0;
  if (rank == 0)
    printf("%.6f units of heat after %d steps, on average at cell %.9f; %d processes left\n",
           sums[0], own.step, sums[1] / sums[0], size);
  return 1;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  look_at(MPI_COMM_WORLD);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  const int steps = argc > 1 ? atoi(argv[1]) : 10000;
  if (size > pieces || steps % interval != 0) {
    if (rank == 0)
      fprintf(stderr, "usage: restart [STEPS]: a multiple of %d, and at most %d processes\n",
              interval, pieces);
    MPI_Finalize();
    return 2;
  }
  begin();
  for (int is_done = 0; !is_done;) {
    const int is_last = own.step == steps;
    if (is_last ? report() : advance())
      is_done = is_last;
    else
      recover();
  }
  MPI_Finalize();
  return 0;
}
