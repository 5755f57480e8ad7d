// Two threads of each rank complete requests at the same time, each with a communicator of its own,
// so that each gets handles that MPI has just taken from the other. Every value is known, and
// checked. argv[1]: how many rounds.
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static MPI_Comm comms[2];
static int rounds, wrong[2];

// Receives of a thread's neighbor, in all ways that make a request, and sums of all ranks.
static void* work(void* number) {
  const int me = *(int*)number;
  MPI_Comm comm = comms[me];
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  const int left = (rank + size - 1) % size, right = (rank + 1) % size;
  for (int round = 0; round < rounds; ++round) {
    const int base = 1000 * round + 100 * me;
    int sent = base + rank, got[2] = {-1, -1}, sum = -1;
    MPI_Request requests[5];
    MPI_Irecv(&got[0], 1, MPI_INT, left, MPI_ANY_TAG, comm, &requests[0]);
    MPI_Irecv(&got[1], 1, MPI_INT, left, 2, comm, &requests[1]);
    MPI_Isend(&sent, 1, MPI_INT, right, 1, comm, &requests[2]);
    MPI_Isend(&sent, 1, MPI_INT, right, 2, comm, &requests[3]);
    MPI_Iallreduce(&sent, &sum, 1, MPI_INT, MPI_SUM, comm, &requests[4]);
    if (round % 2 == 0) {
      // What was received second, behind a receive of any tag, comes first.
      MPI_Request swapped[] = {requests[1], requests[0], requests[3], requests[4], requests[2]};
      MPI_Waitall(5, swapped, MPI_STATUSES_IGNORE);
    } else {
      for (int i = 4; i >= 0; --i) MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    }
    const int expected = size * base + size * (size - 1) / 2;
    if (got[0] != base + left || got[1] != base + left || sum != expected) ++wrong[me];
  }
  return NULL;
}

int main(int argc, char** argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  rounds = argc > 1 ? atoi(argv[1]) : 100;
  int numbers[2] = {0, 1};
  for (int i = 0; i < 2; ++i) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
  pthread_t threads[2];
  for (int i = 0; i < 2; ++i) pthread_create(&threads[i], NULL, work, &numbers[i]);
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
  for (int i = 0; i < 2; ++i) MPI_Comm_free(&comms[i]);
  if (wrong[0] + wrong[1] > 0) printf("%d are wrong\n", wrong[0] + wrong[1]);
  MPI_Finalize();
  return wrong[0] + wrong[1] > 0;
}
