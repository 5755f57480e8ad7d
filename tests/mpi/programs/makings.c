/* Makes communicators one after the other, and little else, while one rank is killed by the clock:
 * most likely inside of a making.
 *
 *   makings MILLISECONDS [groups|threads]      to be run with --on-loss continue
 *
 * With a second argument by MPI_Comm_create_group only, of parts of the world and of all of it;
 * with `threads` as one of those programs that call MPI from several. So long, and until the rank
 * is lost. What is made has the same sum at all its members. Each survivor says that it is through.
 */
#include <mpi.h>
#include <resprout/resprout.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

/* Of every second process, of one half, of all. */
static MPI_Comm make_of_group(int kind) {
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Group all, some;
  int every_second[1][3] = {{rank % 2, size - 1, 2}};
  int half[1][3] = {{rank < size / 2 ? 0 : size / 2, rank < size / 2 ? size / 2 - 1 : size - 1, 1}};
  int everybody[1][3] = {{size - 1, 0, -1}};
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Group_range_incl(all, 1, kind == 0 ? every_second : kind == 1 ? half : everybody, &some);
  const int code = MPI_Comm_create_group(MPI_COMM_WORLD, some, kind, &made);
  MPI_Group_free(&some);
  MPI_Group_free(&all);
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
  int is_over = 0, level;
  const char* how = argc > 2 ? argv[2] : "";
  double milliseconds = argc > 1 ? atof(argv[1]) : 100;
  MPI_Init_thread(&argc, &argv,
                  strcmp(how, "threads") == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  double end = MPI_Wtime() + milliseconds / 1e3;
  for (int i = 0; !is_over; ++i) {
    MPI_Comm made = *how != '\0' ? make_of_group(i % 3) : make(i % 4);
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
