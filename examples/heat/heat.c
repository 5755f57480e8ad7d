// Heat that spreads along a rod, in pieces: a plain MPI program whose processes talk to neighbors.
//
//   heat [STEPS [CELLS]]     time steps, and cells of a process
//
// The rod begins hot at one end and is insulated at both, so that its heat neither grows nor
// shrinks. A neighbor that cannot be reached any more counts as an insulated end.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static const double conductivity = 0.25;  // per step; stable up to 0.5

// Gives `mine` to a neighbor for its border cell. An end of the rod mirrors its own cell.
static double exchange(double mine, int* neighbor) {
  double theirs = mine;
  if (*neighbor != MPI_PROC_NULL &&
      MPI_Sendrecv(&mine, 1, MPI_DOUBLE, *neighbor, 0, &theirs, 1, MPI_DOUBLE, *neighbor, 0,
                   MPI_COMM_WORLD, MPI_STATUS_IGNORE) != MPI_SUCCESS) {
    *neighbor = MPI_PROC_NULL;
    theirs = mine;
  }
  return theirs;
}

static void step(const double* now, double* next, int cells, double left, double right) {
  for (int i = 0; i < cells; ++i) {
    const double before = i > 0 ? now[i - 1] : left;
    const double after = i + 1 < cells ? now[i + 1] : right;
    next[i] = now[i] + conductivity * (before - 2.0 * now[i] + after);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int steps = argc > 1 ? atoi(argv[1]) : 5000;
  const int cells = argc > 2 ? atoi(argv[2]) : 1000;
  if (steps < 0 || cells < 1) {
    if (rank == 0) fprintf(stderr, "usage: heat [STEPS [CELLS]]\n");
    MPI_Finalize();
    return 2;
  }

  double* now = calloc((size_t)cells, sizeof *now);
  double* next = calloc((size_t)cells, sizeof *next);
  if (now == NULL || next == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  if (rank == 0) now[0] = 1000.0;
  int left = rank > 0 ? rank - 1 : MPI_PROC_NULL;
  int right = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
  for (int i = 0; i < steps; ++i) {
    // Even ranks turn to the right first, odd ones to the left, so that pairs meet.
    double from_left = 0.0;
    double from_right = 0.0;
    if (rank % 2 == 0) from_right = exchange(now[cells - 1], &right);
    from_left = exchange(now[0], &left);
    if (rank % 2 == 1) from_right = exchange(now[cells - 1], &right);
    step(now, next, cells, from_left, from_right);
    double* swap = now;
    now = next;
    next = swap;
  }

  double sum[2] = {0.0, (double)cells};  // heat, cells
  for (int i = 0; i < cells; ++i) sum[0] += now[i];
  MPI_Allreduce(MPI_IN_PLACE, sum, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  int speaker = rank;
  MPI_Allreduce(MPI_IN_PLACE, &speaker, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (rank == speaker)
    printf("%.6f units of heat in %.0f cells, says rank %d\n", sum[0], sum[1], rank);
  free(now);
  free(next);
  MPI_Finalize();
  return 0;
}
