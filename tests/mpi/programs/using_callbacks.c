// Callbacks of attributes that use communicators: a copy function makes one and has a barrier on
// it, a delete function has an allreduce on the one that is being freed. Handles come again
// meanwhile.
#include <mpi.h>

#include <stdio.h>

static int copies, deletions, wrong;

static void check_sum(MPI_Comm comm) {
  int size = 0, one = 1, sum = 0;
  MPI_Comm_size(comm, &size);
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
  if (sum != size) ++wrong;
}

static int copy(MPI_Comm of, int key, void* extra, void* in, void* out, int* is_copied) {
  (void)of, (void)key, (void)extra;
  MPI_Comm alone;
  MPI_Comm_dup(MPI_COMM_SELF, &alone);
  MPI_Barrier(alone);
  check_sum(alone);
  MPI_Comm_free(&alone);
  *(void**)out = in;
  *is_copied = 1;
  ++copies;
  return MPI_SUCCESS;
}

static int delete(MPI_Comm of, int key, void* value, void* extra) {
  (void)key, (void)value, (void)extra;
  check_sum(of);
  ++deletions;
  return MPI_SUCCESS;
}

int main(int argc, char** argv) {
  enum { rounds = 12 };
  int first, second, rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_create_keyval(copy, delete, &first, NULL);
  MPI_Comm_create_keyval(MPI_COMM_DUP_FN, delete, &second, NULL);
  for (int round = 0; round < rounds; ++round) {
    MPI_Comm of, dup, idup, part;
    MPI_Request request;
    MPI_Comm_dup(MPI_COMM_WORLD, &of);
    MPI_Comm_set_attr(of, first, &rank);
    MPI_Comm_set_attr(of, second, &rank);
    MPI_Comm_dup(of, &dup);
    MPI_Comm_split(dup, 0, rank, &part);
    MPI_Comm_idup(dup, &idup, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check_sum(idup);
    MPI_Comm_free(&idup);
    MPI_Comm_free(&part);
    MPI_Comm_free(&dup);
    MPI_Comm_free(&of);
  }
  const int is_right = copies == 2 * rounds && deletions == 6 * rounds && wrong == 0;
  printf("rank %d: %s\n", rank, is_right ? "right" : "WRONG");
  MPI_Finalize();
  return is_right ? 0 : 1;
}
