/* A blocking receive from anybody ends with the news of a loss: what comes later is for the next.
 *
 *   told recv|sendrecv|sendrecv_replace
 *
 * For 3 ranks, with `--on-loss error`. Rank 2 dies, rank 0 is told of it, acknowledges it, and
 * receives from anybody once more. With `recv` a barrier is under way in rank 0 meanwhile.
 */
#include <mpi.h>
#include <resprout/resprout.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { early_tag = 1, tag = 2, go_on_tag = 3 };

static MPI_Comm world, apart; /* `apart`: ranks 0 and 1 */

static int receive(const char* form) {
  int mine = 5, theirs = 0;
  MPI_Status status;
  if (strcmp(form, "sendrecv") == 0)
    return MPI_Sendrecv(&mine, 1, MPI_INT, 1, early_tag, &theirs, 1, MPI_INT, MPI_ANY_SOURCE, tag,
                        world, &status);
  if (strcmp(form, "sendrecv_replace") == 0)
    return MPI_Sendrecv_replace(&mine, 1, MPI_INT, 1, early_tag, MPI_ANY_SOURCE, tag, world,
                                &status);
  MPI_Send(&mine, 1, MPI_INT, 1, early_tag, world);
  return MPI_Recv(&theirs, 1, MPI_INT, MPI_ANY_SOURCE, tag, world, &status);
}

static void be_told(const char* form) {
  MPI_Request barrier = MPI_REQUEST_NULL;
  if (strcmp(form, "recv") == 0) MPI_Ibarrier(apart, &barrier);
  int class, value = 0;
  MPI_Error_class(receive(form), &class);
  MPIX_Comm_failure_ack(world);
  MPI_Send(&value, 1, MPI_INT, 1, go_on_tag, world);
  int code = MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, tag, world, MPI_STATUS_IGNORE);
  MPI_Wait(&barrier, MPI_STATUS_IGNORE);
  printf("%s, then %s: %d\n", class == MPIX_ERR_PROC_FAILED ? "told" : "wrong",
         code == MPI_SUCCESS ? "received" : "failed", value);
}

static void answer(const char* form) {
  int value;
  MPI_Recv(&value, 1, MPI_INT, 0, early_tag, world, MPI_STATUS_IGNORE);
  MPI_Recv(&value, 1, MPI_INT, 0, go_on_tag, world, MPI_STATUS_IGNORE);
  value = 42;
  MPI_Send(&value, 1, MPI_INT, 0, tag, world);
  MPI_Request barrier = MPI_REQUEST_NULL;
  if (strcmp(form, "recv") == 0) MPI_Ibarrier(apart, &barrier);
  MPI_Wait(&barrier, MPI_STATUS_IGNORE);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  world = MPI_COMM_WORLD;
  MPI_Comm_rank(world, &rank);
  MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
  MPI_Comm_split(world, rank / 2, rank, &apart);
  if (rank == 0) be_told(argv[1]);
  if (rank == 1) answer(argv[1]);
  if (rank == 2) {
    usleep(200000); /* rank 0 waits */
    kill(getpid(), SIGKILL);
  }
  MPI_Finalize();
  return 0;
}
