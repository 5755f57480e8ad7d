/* What a process sent before it died is received by an MPI_Testall whose other message comes long
 * after the death is known: the call says of both what they were.
 *
 *   testall_late world|shrunk
 *
 * Rank 1 sends to rank 0 and dies, rank 2 sends later. shrunk: all on the communicator that is left
 * after the last rank died.
 */
#include <mpi.h>
#include <resprout/resprout.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { tag_of_dead = 5, tag_of_late = 6, tag_of_go = 7 };
static MPI_Comm comm = MPI_COMM_WORLD;

static void fail(const char* what, int number) {
  fprintf(stderr, "WRONG: %s: %d\n", what, number);
  fflush(stderr);
  _Exit(1);
}

static void wait_for_a_loss(void) {
  for (int count = 0; count == 0;) {
    MPI_Group failed;
    MPIX_Comm_get_failed(comm, &failed);
    MPI_Group_size(failed, &count);
    MPI_Group_free(&failed);
  }
}

static void shrink(void) {
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  if (rank == size - 1) raise(SIGKILL);
  wait_for_a_loss();
  MPI_Comm left;
  MPIX_Comm_shrink(comm, &left);
  comm = left;
}

static void check(const MPI_Status* status, int source, int tag, int count) {
  int received = -1;
  MPI_Get_count(status, MPI_INT, &received);
  if (status->MPI_SOURCE != source) fail("source", status->MPI_SOURCE);
  if (status->MPI_TAG != tag) fail("tag", status->MPI_TAG);
  if (received != count) fail("count", received);
}

static void receive_both(void) {
  int of_dead[8] = {0}, of_late[8] = {0}, is_over = 0, go = 1;
  MPI_Request requests[2];
  MPI_Status statuses[2];
  wait_for_a_loss();
  MPI_Irecv(of_dead, 8, MPI_INT, 1, tag_of_dead, comm, &requests[0]);
  MPI_Irecv(of_late, 8, MPI_INT, 2, tag_of_late, comm, &requests[1]);
  for (int look = 0; look < 1000; ++look) {
    const int code = MPI_Testall(2, requests, &is_over, statuses);
    if (code != MPI_SUCCESS || is_over) fail("is over before all is there", code);
  }
  MPI_Send(&go, 1, MPI_INT, 2, tag_of_go, comm);
  while (!is_over) {
    const int code = MPI_Testall(2, requests, &is_over, statuses);
    if (code != MPI_SUCCESS) fail("error", code);
  }
  check(&statuses[0], 1, tag_of_dead, 3);
  check(&statuses[1], 2, tag_of_late, 2);
  if (of_dead[2] != 13 || of_late[1] != 22) fail("data", of_dead[2]);
  printf("both are there\n");
}

int main(int argc, char** argv) {
  int rank, go;
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  if (strcmp(argv[1], "shrunk") == 0) shrink();
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Comm_rank(comm, &rank);
  if (rank == 0) receive_both();
  if (rank == 1) {
    MPI_Send((int[]){11, 12, 13}, 3, MPI_INT, 0, tag_of_dead, comm);
    raise(SIGKILL);
  }
  if (rank == 2) {
    MPI_Recv(&go, 1, MPI_INT, 0, tag_of_go, comm, MPI_STATUS_IGNORE);
    MPI_Send((int[]){21, 22}, 2, MPI_INT, 0, tag_of_late, comm);
  }
  MPI_Finalize();
  return 0;
}
