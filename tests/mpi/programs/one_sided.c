/* One-sided access to ranks that wait in a collective meanwhile: in every round another rank adds
 * to all of them, a lock at a time, while they wait for it in a barrier, a sum, or a started one.
 *
 *     one_sided ROUNDS
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { elements = 500 };

static int rank, size;

static void check(int is_right, const char* what) {
  if (is_right) return;
  fprintf(stderr, "WRONG on rank %d: %s\n", rank, what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void wait_for_all(int form) {
  long one = 1, all = 0;
  MPI_Request request;
  if (form == 0) MPI_Barrier(MPI_COMM_WORLD);
  if (form == 1) {
    MPI_Allreduce(&one, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    check(all == size, "a sum");
  }
  if (form == 2) {
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
}

/* Every other element, so that no network does it by itself. */
static void add_to(int target, long what, MPI_Datatype apart, MPI_Win window) {
  long given[elements];
  for (int i = 0; i < elements; ++i) given[i] = what;
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, window);
  MPI_Accumulate(given, elements, MPI_LONG, target, 0, 1, apart, MPI_SUM, window);
  MPI_Win_unlock(target, window);
}

int main(int argc, char** argv) {
  MPI_Win window;
  MPI_Datatype apart;
  long* memory;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int rounds = argc > 1 ? atoi(argv[1]) : 6;
  MPI_Type_vector(elements, 1, 2, MPI_LONG, &apart);
  MPI_Type_commit(&apart);
  const MPI_Aint bytes = 2 * elements * (MPI_Aint)sizeof(long);
  MPI_Alloc_mem(bytes, MPI_INFO_NULL, &memory);
  for (int i = 0; i < 2 * elements; ++i) memory[i] = 0;
  MPI_Win_create(memory, bytes, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &window);

  long wanted = 0;
  for (int round = 0; round < rounds; ++round) {
    if (rank == round % size)
      for (int target = 0; target < size; ++target) add_to(target, round + 1, apart, window);
    wait_for_all(round % 3);
    wanted += round + 1;
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, window);
    for (int i = 0; i < elements; ++i)
      check(memory[2 * i] == wanted && memory[2 * i + 1] == 0, "an element");
    MPI_Win_unlock(rank, window);
    wait_for_all(round % 3);
  }

  MPI_Win_free(&window);
  MPI_Free_mem(memory);
  MPI_Type_free(&apart);
  if (rank == 0) puts("right");
  MPI_Finalize();
  return 0;
}
