// What `resprout doctor` runs to see what the MPI here can do.
//
//   probe start       all ranks start and end
//   probe lose        the last rank kills itself; the others go on sending to each other
//   probe allreduce   allreduces while the launcher's injector kills a rank
//
// Prints "ok" from the lowest rank that came to the end; its silence is an answer, too.
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

enum { rounds = 500 };

// Whether every message between the ranks but the last one got through.
static int exchange(int rank, int size) {
  if (rank == size - 1) raise(SIGKILL);
  const int right = (rank + 1) % (size - 1);
  const int left = (rank + size - 2) % (size - 1);
  for (int i = 0; i < rounds; ++i) {
    int received = -1;
    if (MPI_Sendrecv(&i, 1, MPI_INT, right, 0, &received, 1, MPI_INT, left, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE) != MPI_SUCCESS ||
        received != i)
      return 0;
  }
  return 1;
}

// Whether every allreduce gave a sum that living ranks can have, and fewer ranks are left.
static int reduce(int size) {
  int contributors = 0;
  for (int i = 0; i < rounds; ++i) {
    const int one = 1;
    if (MPI_Allreduce(&one, &contributors, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD) != MPI_SUCCESS ||
        contributors < 1 || contributors > size)
      return 0;
  }
  return contributors < size;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const char* mode = argc > 1 ? argv[1] : "start";
  int is_good = 1;
  if (strcmp(mode, "lose") == 0) is_good = exchange(rank, size);
  if (strcmp(mode, "allreduce") == 0) is_good = reduce(size);
  if (rank == 0) puts(is_good ? "ok" : "not ok");
  MPI_Finalize();
  return is_good ? 0 : 1;
}
