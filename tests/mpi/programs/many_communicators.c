/* As many communicators as there can be, none of them freed before that.
 *
 *   many_communicators    after rank 1 is lost: until there is none any more, and again once they
 * are freed many_communicators N  N of them, or as many as there can be
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int rank;

static void check(int is_right, const char* what) {
  if (is_right) return;
  fprintf(stderr, "WRONG on rank %d: %s\n", rank, what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void use(MPI_Comm comm, int living) {
  int one = 1, sum = 0;
  check(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm) == MPI_SUCCESS && sum == living,
        "a sum");
}

/* How many there are; each tenth one, and the last ones, are used. */
static int make_all(MPI_Comm* comms, int most, int living) {
  int made = 0;
  while (made < most && MPI_Comm_dup(MPI_COMM_WORLD, &comms[made]) == MPI_SUCCESS)
    if (made++ % 10 == 0) use(comms[made - 1], living);
  for (int i = made > 20 ? made - 20 : 0; i < made; ++i) use(comms[i], living);
  return made;
}

int main(int argc, char** argv) {
  const int most = argc > 1 ? atoi(argv[1]) : 1000;
  MPI_Comm* comms = malloc((size_t)most * sizeof *comms);
  int living, made = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &living);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  if (argc == 1) {
    --living;
    if (rank == 1) kill(getpid(), SIGKILL);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  for (int round = 0; round < (argc > 1 ? 1 : 3); ++round) {
    const int before = made;
    made = make_all(comms, most, living);
    check(round == 0 || made == before, "as many as before");
    if (argc > 1 && made < most) { /* the place of one that is freed */
      MPI_Comm_free(&comms[0]);
      check(MPI_Comm_dup(MPI_COMM_WORLD, &comms[0]) == MPI_SUCCESS, "one more");
      use(comms[0], living);
    }
    for (int i = 0; argc == 1 && i < made; ++i) MPI_Comm_free(&comms[i]);
  }
  if (rank == 0) printf("%d\n", made);
  MPI_Finalize();
  free(comms);
  return 0;
}
