/* A message between two groups of ranks, on a communicator that MPI_Intercomm_create has made and
 * that has no name in other planes. Rank 2 sends its number to rank 0.
 *
 *     between recv|irecv|test|waitall|recv_init|probe|any|sendrecv [MILLISECONDS]
 *
 * Rank 0 receives it in this way, so much later than it could. Prints "got NUMBER".
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int got = -1;

static void receive(const char* how, MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Status status;
  int is_over = 0, given = 1;
  if (strcmp(how, "recv") == 0) {
    MPI_Recv(&got, 1, MPI_INT, 0, 0, comm, &status);
  } else if (strcmp(how, "any") == 0) {
    MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &status);
  } else if (strcmp(how, "probe") == 0) {
    MPI_Probe(0, 0, comm, &status);
    MPI_Recv(&got, 1, MPI_INT, 0, 0, comm, &status);
  } else if (strcmp(how, "sendrecv") == 0) {
    MPI_Sendrecv(&given, 1, MPI_INT, 0, 1, &got, 1, MPI_INT, 0, 0, comm, &status);
  } else if (strcmp(how, "recv_init") == 0) {
    MPI_Recv_init(&got, 1, MPI_INT, 0, 0, comm, &request);
    MPI_Start(&request);
    MPI_Wait(&request, &status);
    MPI_Request_free(&request);
  } else {
    MPI_Irecv(&got, 1, MPI_INT, 0, 0, comm, &request);
    if (strcmp(how, "irecv") == 0) MPI_Wait(&request, &status);
    if (strcmp(how, "waitall") == 0) MPI_Waitall(1, &request, &status);
    if (strcmp(how, "test") == 0)
      while (!is_over) MPI_Test(&request, &is_over, &status);
  }
}

int main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "recv";
  int rank, size, ignored;
  MPI_Comm half, between;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int is_low = rank < size / 2;
  MPI_Comm_split(MPI_COMM_WORLD, is_low, rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, is_low ? size / 2 : 0, 5, &between);
  if (rank == size / 2) {
    MPI_Send(&rank, 1, MPI_INT, 0, 0, between);
    if (strcmp(how, "sendrecv") == 0)
      MPI_Recv(&ignored, 1, MPI_INT, 0, 1, between, MPI_STATUS_IGNORE);
  }
  if (rank == 0) {
    if (argc > 2) usleep((useconds_t)atoi(argv[2]) * 1000);
    receive(how, between);
    printf("got %d\n", got);
    fflush(stdout);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
