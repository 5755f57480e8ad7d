/* What only the MPI library can do, again and again: `lone_calls dup` duplicates an
 * inter-communicator, `lone_calls win` makes windows, `lone_calls access` adds to its neighbor's
 * without that one's help. Each rank says when it is done.
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

static void access_window(int rank, int size) {
  enum { accesses = 20000 };
  int memory = 0, one = 1, before = 0, next = (rank + 1) % size;
  MPI_Win window;
  MPI_Aint own, there[64];
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Win_attach(window, &memory, sizeof memory);
  MPI_Get_address(&memory, &own);
  MPI_Allgather(&own, 1, MPI_AINT, there, 1, MPI_AINT, MPI_COMM_WORLD);
  MPI_Win_lock_all(0, window);
  for (int i = 0; i < accesses; ++i) {
    MPI_Fetch_and_op(&one, &before, MPI_INT, next, there[next], MPI_SUM, window);
    MPI_Win_flush(next, window);
    if (before != i) printf("rank %d: %d is not %d\n", rank, before, i);
  }
  MPI_Win_unlock_all(window);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_detach(window, &memory);
  MPI_Win_free(&window);
}

int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (argc > 1 && strcmp(argv[1], "dup") == 0)
    duplicate(rank);
  else if (argc > 1 && strcmp(argv[1], "access") == 0)
    access_window(rank, size);
  else
    make_windows(rank, size);
  printf("rank %d is done\n", rank);
  MPI_Finalize();
  return 0;
}
