/* Communicators that are freed by each rank in an order of its own, while others still work on
 * them; and what hangs on them goes with them.
 *
 *   partings [ROUNDS]
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { count = 6, large = 70000 };

static int rank, deleted, value;
static int data[large];

static int note_deletion(MPI_Comm comm, int key, void* attribute, void* extra) {
  (void)comm, (void)key, (void)extra;
  deleted += attribute == &value;
  return MPI_SUCCESS;
}

static int refuse_deletion(MPI_Comm comm, int key, void* attribute, void* extra) {
  (void)comm, (void)key, (void)attribute;
  return (*(int*)extra)-- > 0 ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static void check(int is_right, const char* what) {
  if (is_right) return;
  fprintf(stderr, "WRONG on rank %d: %s\n", rank, what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void work_on(MPI_Comm comm, int number) {
  int one = 1, sum = 0, size;
  MPI_Comm_size(comm, &size);
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
  check(sum >= 1 && sum <= size, "a sum");
  if (number % 2 == 0) MPI_Bcast(data, number % 3 == 0 ? large : 1, MPI_INT, size - 1, comm);
  if (number % 3 == 1) MPI_Barrier(comm);
}

/* Its own deletion fails once: then it goes on. */
static void keep_and_free(void) {
  int key, refusals = 1;
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, refuse_deletion, &key, &refusals);
  MPI_Comm_set_attr(comm, key, &value);
  work_on(comm, 0);
  check(MPI_Comm_free(&comm) != MPI_SUCCESS && comm != MPI_COMM_NULL, "a deletion is refused");
  work_on(comm, 1);
  check(MPI_Comm_free(&comm) == MPI_SUCCESS && comm == MPI_COMM_NULL, "it is freed");
  MPI_Comm_free_keyval(&key);
}

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? atoi(argv[1]) : 10;
  int key;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, note_deletion, &key, NULL);
  for (int round = 0; round < rounds; ++round) {
    MPI_Comm comms[count];
    deleted = 0;
    for (int i = 0; i < count; ++i) {
      MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
      MPI_Comm_set_attr(comms[i], key, &value);
    }
    for (int i = 0; i < count; ++i) work_on(comms[i], i + round);
    for (int i = 0; i < count; ++i) {
      /* Sums on one that others may have freed already would be a mistake; messages are none. */
      MPI_Comm* comm = &comms[(i * (rank % 2 == 0 ? 1 : count - 1) + rank) % count];
      check(MPI_Comm_free(comm) == MPI_SUCCESS && *comm == MPI_COMM_NULL, "it is freed");
      check(deleted == i + 1, "what hangs on it goes at once");
      if (rank == 0) usleep(100);
    }
  }
  keep_and_free();
  MPI_Comm_free_keyval(&key);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) puts("parted");
  MPI_Finalize();
  return 0;
}
