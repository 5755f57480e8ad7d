/* Rank 0 looks for messages from anybody behind a receive from anybody that was started before, and
   each time two are on their way to it, one from either of two others, at moments of their own.

   behind TIMES */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { ways = 3 };

static int rank;
static unsigned moment;

static void check(int is_right, const char* what) {
  if (is_right) return;
  fprintf(stderr, "rank %d: %s\n", rank, what);
  MPI_Abort(MPI_COMM_WORLD, 9);
}

/* Some microseconds, other ones each time and in each replica. */
static void linger(void) {
  moment = moment * 1103515245u + 12345u;
  for (volatile unsigned left = moment >> 16 & 0x3fff; left > 0;) left = left - 1;
}

static int look_for(int way, int tag, MPI_Status* found) {
  int number = -1, flag = 0;
  MPI_Message message;
  if (way == 0) MPI_Probe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, found);
  while (way == 1 && !flag) MPI_Iprobe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &flag, found);
  if (way == 2) {
    MPI_Mprobe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &message, found);
    MPI_Mrecv(&number, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
  } else {
    MPI_Recv(&number, 1, MPI_INT, found->MPI_SOURCE, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  return number;
}

static void receive_both(int time) {
  MPI_Request started;
  MPI_Status first, second;
  int number = -1;
  MPI_Irecv(&number, 1, MPI_INT, MPI_ANY_SOURCE, time, MPI_COMM_WORLD, &started);
  MPI_Barrier(MPI_COMM_WORLD);
  check(look_for(time % ways, time, &second) == time, "another message than the one found");
  MPI_Wait(&started, &first);
  check(number == time, "a message of another time");
  check(first.MPI_SOURCE + second.MPI_SOURCE == 3, "not one message of each");
}

static void send(int time) {
  MPI_Barrier(MPI_COMM_WORLD);
  linger();
  MPI_Send(&time, 1, MPI_INT, 0, time, MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const char* replica = getenv("RESPROUT_REPLICA");
  moment = 7u * (unsigned)rank + 1000u * (unsigned)(replica == NULL ? 0 : atoi(replica));
  for (int time = 0; time < atoi(argv[1]); ++time) rank == 0 ? receive_both(time) : send(time);
  if (rank == 0) printf("done\n");
  MPI_Finalize();
  return 0;
}
