// Rank 1 dies in MPI_Finalize: from where its attribute of MPI_COMM_SELF is deleted, or
//
//   finalize MICROSECONDS
//
// after so long a time in it, unless it is through by then. Who is through says so.
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

static int rank;
static long microseconds = -1;

static void die(int number) {
  (void)number;
  kill(getpid(), SIGKILL);
}

static int be_deleted(MPI_Comm comm, int key, void* value, void* extra) {
  (void)comm, (void)key, (void)value, (void)extra;
  if (rank == 1 && microseconds < 0) die(0);
  return MPI_SUCCESS;
}

static void die_after(long time_us) {
  const struct itimerval once = {{0, 0}, {time_us / 1000000, time_us % 1000000}};
  signal(SIGALRM, die);
  setitimer(ITIMER_REAL, &once, NULL);
}

int main(int argc, char** argv) {
  int key;
  if (argc > 1) microseconds = atol(argv[1]);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, be_deleted, &key, NULL);
  MPI_Comm_set_attr(MPI_COMM_SELF, key, &rank);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1 && microseconds >= 0) die_after(microseconds + 1);
  MPI_Finalize();
  if (microseconds >= 0) die_after(0);
  printf("rank %d is through\n", rank);
  return 0;
}
