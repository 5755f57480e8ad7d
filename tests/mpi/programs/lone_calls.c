/* What only the MPI library can do, again and again: `lone_calls dup` duplicates an
 * inter-communicator, `lone_calls win` makes windows. Each rank says when it is done.
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { times = 40 };

static void duplicate(int rank) {
  MPI_Comm half, inter, copy;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 5, &inter);
  for (int i = 0; i < times; ++i) {
    MPI_Comm_dup(inter, &copy);
    MPI_Comm_free(&copy);
  }
  MPI_Comm_free(&inter);
  MPI_Comm_free(&half);
}

static void make_windows(int rank, int size) {
  for (int i = 0; i < times; ++i) {
    int memory[2] = {rank, -1}, next = (rank + 1) % size, last = (rank + size - 1) % size;
    MPI_Win window;
    MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_fence(0, window);
    MPI_Put(&memory[0], 1, MPI_INT, next, 1, 1, MPI_INT, window);
    MPI_Win_fence(0, window);
    if (memory[1] != last) printf("rank %d: %d is not %d\n", rank, memory[1], last);
    MPI_Win_free(&window);
  }
}

int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (argc > 1 && strcmp(argv[1], "dup") == 0)
    duplicate(rank);
  else
    make_windows(rank, size);
  printf("rank %d is done\n", rank);
  MPI_Finalize();
  return 0;
}
