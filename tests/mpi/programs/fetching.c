/* `fetching CALL`: each rank changes or reads memory of rank 0 without its help, by this call, in
 * an epoch of locks. `fetching writes`: only writes there, and reads what others have written when
 * they are through, between fences. Says what rank 0 has in the end.
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { times = 100 };

static int one = 1, found[times];
static MPI_Win window;

static void fetch(const char* call) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Win_lock_all(0, window);
  for (int i = 0; i < times; ++i) {
    if (strcmp(call, "fetch_and_op") == 0)
      MPI_Fetch_and_op(&one, &found[i], MPI_INT, 0, 0, MPI_SUM, window);
    else if (strcmp(call, "compare_and_swap") == 0)
      MPI_Compare_and_swap(&one, &found[i], &found[i], MPI_INT, 0, 0, window);
    else if (strcmp(call, "get_accumulate") == 0)
      MPI_Get_accumulate(&one, 1, MPI_INT, &found[i], 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM,
                         window);
    else if (strcmp(call, "get") == 0)
      MPI_Get(&found[i], 1, MPI_INT, 0, 0, 1, MPI_INT, window);
    else if (strcmp(call, "rget") == 0)
      MPI_Rget(&found[i], 1, MPI_INT, 0, 0, 1, MPI_INT, window, &request);
    else
      MPI_Rget_accumulate(&one, 1, MPI_INT, &found[i], 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM,
                          window, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Win_flush(0, window);
  }
  MPI_Win_unlock_all(window);
}

static void write_and_read(int size) {
  int sum = 0;
  MPI_Win_lock_all(0, window);
  for (int i = 0; i < times; ++i)
    MPI_Accumulate(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, window);
  MPI_Win_unlock_all(window);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_fence(0, window);
  MPI_Get(&sum, 1, MPI_INT, 0, 0, 1, MPI_INT, window);
  MPI_Win_fence(0, window);
  if (sum != times * size) printf("%d is not %d\n", sum, times * size);
}

int main(int argc, char** argv) {
  int rank, size, memory = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Win own;
  MPI_Win_create(&memory, sizeof memory, sizeof memory, MPI_INFO_NULL, MPI_COMM_SELF, &own);
  window = own;
  fetch("fetch_and_op");
  MPI_Win_free(&own);
  memory = 0;
  MPI_Win_create(&memory, sizeof memory, sizeof memory, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Barrier(MPI_COMM_WORLD);
  if (argc > 1 && strcmp(argv[1], "writes") != 0)
    fetch(argv[1]);
  else
    write_and_read(size);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) printf("%d\n", memory);
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
