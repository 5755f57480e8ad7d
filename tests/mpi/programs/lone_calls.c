/* What only the MPI library can do, again and again: `lone_calls dup` duplicates an
 * inter-communicator, `lone_calls win` makes windows, `lone_calls access` adds to its neighbor's
 * without that one's help, `lone_calls requests` by requests, `lone_calls polling`
 * waits by MPI_Win_sync for what its neighbor writes in shared memory. Each rank says when it is
 * done.
 */
#include <mpi.h>
#include <sched.h>
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
    int own[2], *memory = own, next = (rank + 1) % size, last = (rank + size - 1) % size;
    const MPI_Aint bytes = sizeof own;
    MPI_Win window;
    if (i % 2 == 0)
      MPI_Win_create(memory, bytes, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    else
      MPI_Win_allocate(bytes, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    memory[0] = rank;
    memory[1] = -1;
    MPI_Win_fence(0, window);
    MPI_Put(&memory[0], 1, MPI_INT, next, 1, 1, MPI_INT, window);
    MPI_Win_fence(0, window);
    if (memory[1] != last) printf("rank %d: %d is not %d\n", rank, memory[1], last);
    MPI_Win_free(&window);
  }
}

static void access_window(int rank, int size) {
  enum { accesses = 20000 };
  int memory = 0, one = 1, next = (rank + 1) % size;
  MPI_Win window;
  MPI_Aint own, there[64];
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Win_attach(window, &memory, sizeof memory);
  MPI_Get_address(&memory, &own);
  MPI_Allgather(&own, 1, MPI_AINT, there, 1, MPI_AINT, MPI_COMM_WORLD);
  MPI_Win_lock_all(0, window);
  for (int i = 0; i < accesses; ++i) {
    MPI_Accumulate(&one, 1, MPI_INT, next, there[next], 1, MPI_INT, MPI_SUM, window);
    MPI_Win_flush(next, window);
  }
  MPI_Win_unlock_all(window);
  MPI_Barrier(MPI_COMM_WORLD);
  if (memory != accesses) printf("rank %d: %d is not %d\n", rank, memory, accesses);
  MPI_Win_detach(window, &memory);
  MPI_Win_free(&window);
}

/* In turns waited for and looked at. */
static void access_by_requests(int rank, int size) {
  enum { accesses = 20000 };
  int memory = 0, next = (rank + 1) % size;
  MPI_Win window;
  MPI_Win_create(&memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Win_lock_all(0, window);
  for (int i = 0; i < accesses; ++i) {
    int from = i, is_done = 0;
    MPI_Request request;
    if (i % 2 == 0)
      MPI_Rput(&from, 1, MPI_INT, next, 0, 1, MPI_INT, window, &request);
    else
      MPI_Raccumulate(&from, 1, MPI_INT, next, 0, 1, MPI_INT, MPI_SUM, window, &request);
    if (i % 3 == 0) MPI_Wait(&request, MPI_STATUS_IGNORE);
    while (i % 3 == 1 && !is_done) MPI_Test(&request, &is_done, MPI_STATUS_IGNORE);
    if (i % 3 == 2) MPI_Waitall(1, &request, MPI_STATUSES_IGNORE);
    MPI_Win_flush(next, window);
  }
  MPI_Win_unlock_all(window);
  MPI_Barrier(MPI_COMM_WORLD);
  if (memory != 2 * accesses - 3) printf("rank %d: %d is what is there\n", rank, memory);
  MPI_Win_free(&window);
}

/* Round after round each rank waits until its neighbor has written the number of the round there.
 */
static void poll(int rank, int size) {
  enum { rounds = 100000 };
  int *own, *there, unit;
  MPI_Aint bytes;
  MPI_Win window;
  MPI_Win_allocate_shared(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &own, &window);
  MPI_Win_shared_query(window, (rank + 1) % size, &bytes, &unit, &there);
  *own = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock_all(MPI_MODE_NOCHECK, window);
  for (int i = 1; i <= rounds; ++i) {
    __atomic_store_n(there, i, __ATOMIC_RELEASE);
    for (; __atomic_load_n(own, __ATOMIC_ACQUIRE) < i; sched_yield()) MPI_Win_sync(window);
  }
  MPI_Win_unlock_all(window);
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
  else if (argc > 1 && strcmp(argv[1], "requests") == 0)
    access_by_requests(rank, size);
  else if (argc > 1 && strcmp(argv[1], "polling") == 0)
    poll(rank, size);
  else
    make_windows(rank, size);
  printf("rank %d is done\n", rank);
  MPI_Finalize();
  return 0;
}
