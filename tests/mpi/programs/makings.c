/* Makes communicators one after the other, and little else, while one rank is killed by the clock:
 * most likely inside of a making.
 *
 *   makings MILLISECONDS      to be run with --on-loss continue
 *
 * So long, and until the rank is lost. What is made has the same sum at all its members. Each
 * survivor says that it is through.
 */
#include <mpi.h>
#include <resprout/resprout.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int rank, size;

static void check(int is_right, const char* what) {
  if (is_right) return;
  fprintf(stderr, "WRONG: rank %d: %s\n", rank, what);
  fflush(stderr);
  _exit(1);
}

static MPI_Comm make(int kind) {
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Group all;
  int code, periods[2] = {1, 1}, dims[2] = {0, 0};
  switch (kind) {
    case 0:
      code = MPI_Comm_dup(MPI_COMM_WORLD, &made);
      break;
    case 1:
      code = MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &made);
      break;
    case 2:
      MPI_Comm_group(MPI_COMM_WORLD, &all);
      code = MPI_Comm_create(MPI_COMM_WORLD, all, &made);
      MPI_Group_free(&all);
      break;
    default:
      MPI_Dims_create(size, 2, dims);
      code = MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &made);
  }
  check(code == MPI_SUCCESS && made != MPI_COMM_NULL, "it is made");
  return made;
}

static void use(MPI_Comm comm) {
  int one = 1, sums[2] = {0, 0};
  check(MPI_Allreduce(&one, &sums[0], 1, MPI_INT, MPI_SUM, comm) == MPI_SUCCESS, "a sum");
  sums[1] = -sums[0];
  check(MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_INT, MPI_MAX, comm) == MPI_SUCCESS, "a maximum");
  check(sums[0] == -sums[1], "the same sum everywhere");
}

int main(int argc, char** argv) {
  int is_over = 0;
  double milliseconds = argc > 1 ? atof(argv[1]) : 100;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  double end = MPI_Wtime() + milliseconds / 1e3;
  for (int i = 0; !is_over; ++i) {
    MPI_Comm made = make(i % 4);
    if (i % 16 < 4) {
      int one = 1, left = 0;
      use(made);
      MPI_Allreduce(&one, &left, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
      int mine = left < size && MPI_Wtime() >= end;
      MPI_Allreduce(&mine, &is_over, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    }
    MPI_Comm_free(&made);
  }
  printf("%d is through\n", rank);
  MPI_Finalize();
  return 0;
}
