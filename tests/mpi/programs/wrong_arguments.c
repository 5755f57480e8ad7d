// Calls whose arguments MPI refuses: all ranks make each of them, and say the class of its error.
#include <mpi.h>
#include <stdio.h>

static void say(const char* call, int code) {
  int class = 0;
  int rank = 0;
  MPI_Error_class(code, &class);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  printf("rank %d: %s gives %d\n", rank, call, class);
  fflush(stdout);
}

#define TRY(call) say(#call, call)

enum { ranks_max = 8 };

static int numbers[ranks_max];
static int others[ranks_max];
static const int ones[ranks_max] = {1, 1, 1, 1, 1, 1, 1, 1};
static const int places[ranks_max] = {0, 1, 2, 3, 4, 5, 6, 7};
static MPI_Request request;

// MPI_IN_PLACE where the result should go.
static void try_in_place(MPI_Comm comm) {
  TRY(MPI_Allreduce(numbers, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM, comm));
  TRY(MPI_Scan(numbers, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM, comm));
  TRY(MPI_Reduce_scatter(numbers, MPI_IN_PLACE, ones, MPI_INT, MPI_SUM, comm));
  TRY(MPI_Reduce_scatter_block(numbers, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM, comm));
  TRY(MPI_Allgather(numbers, 1, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, comm));
  TRY(MPI_Allgatherv(numbers, 1, MPI_INT, MPI_IN_PLACE, ones, places, MPI_INT, comm));
  TRY(MPI_Alltoall(numbers, 1, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, comm));
  TRY(MPI_Iallreduce(numbers, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM, comm, &request));
  TRY(MPI_Iscan(numbers, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM, comm, &request));
  TRY(MPI_Iallgather(numbers, 1, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, comm, &request));
}

// No arrays where each rank has a count.
static void try_without_counts(MPI_Comm comm) {
  TRY(MPI_Allgatherv(numbers, 1, MPI_INT, others, NULL, NULL, MPI_INT, comm));
  TRY(MPI_Alltoallv(numbers, NULL, NULL, MPI_INT, others, NULL, NULL, MPI_INT, comm));
  TRY(MPI_Iallgatherv(numbers, 1, MPI_INT, others, NULL, NULL, MPI_INT, comm, &request));
}

// Fewer than no elements.
static void try_negative_counts(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  TRY(MPI_Recv(numbers, -1, MPI_INT, rank, 0, comm, MPI_STATUS_IGNORE));
  TRY(MPI_Irecv(numbers, -1, MPI_INT, rank, 0, comm, &request));
  TRY(MPI_Sendrecv(numbers, -1, MPI_INT, rank, 0, others, 1, MPI_INT, rank, 0, comm,
                   MPI_STATUS_IGNORE));
  TRY(MPI_Sendrecv(numbers, 1, MPI_INT, rank, 0, others, -1, MPI_INT, rank, 0, comm,
                   MPI_STATUS_IGNORE));
  TRY(MPI_Bcast(numbers, -1, MPI_INT, 0, comm));
}

// A datatype that nobody has committed.
static void try_uncommitted(MPI_Comm comm) {
  int rank = 0;
  MPI_Datatype type;
  MPI_Comm_rank(comm, &rank);
  MPI_Type_contiguous(2, MPI_INT, &type);
  TRY(MPI_Bcast(numbers, 1, type, 0, comm));
  TRY(MPI_Ibcast(numbers, 1, type, 0, comm, &request));
  TRY(MPI_Bcast_init(numbers, 1, type, 0, comm, MPI_INFO_NULL, &request));
  TRY(MPI_Gather(numbers, 1, type, others, 1, type, 0, comm));
  TRY(MPI_Scatter(numbers, 1, type, others, 1, type, 0, comm));
  TRY(MPI_Allgather(numbers, 1, type, others, 1, type, comm));
  TRY(MPI_Allgatherv(numbers, 1, type, others, ones, places, type, comm));
  TRY(MPI_Iallgather(numbers, 1, type, others, 1, type, comm, &request));
  TRY(MPI_Alltoall(numbers, 1, type, others, 1, type, comm));
  TRY(MPI_Alltoallv(numbers, ones, places, type, others, ones, places, type, comm));
  TRY(MPI_Allreduce(numbers, others, 1, type, MPI_SUM, comm));
  TRY(MPI_Send(numbers, 1, type, rank, 0, comm));
  TRY(MPI_Isend(numbers, 1, type, rank, 0, comm, &request));
  TRY(MPI_Recv(numbers, 1, type, rank, 0, comm, MPI_STATUS_IGNORE));
  TRY(MPI_Sendrecv(numbers, 1, type, rank, 0, others, 1, type, rank, 0, comm, MPI_STATUS_IGNORE));
  MPI_Type_commit(&type);
  TRY(MPI_Bcast(numbers, 1, type, 0, comm));
  MPI_Type_free(&type);
}

// No request, or no place for an answer.
static void try_without_places(void) {
  int flag = 0;
  int index = 0;
  request = MPI_REQUEST_NULL;
  TRY(MPI_Wait(NULL, MPI_STATUS_IGNORE));
  TRY(MPI_Test(NULL, &flag, MPI_STATUS_IGNORE));
  TRY(MPI_Test(&request, NULL, MPI_STATUS_IGNORE));
  TRY(MPI_Waitall(1, NULL, MPI_STATUSES_IGNORE));
  TRY(MPI_Testall(1, &request, NULL, MPI_STATUSES_IGNORE));
  TRY(MPI_Waitany(1, NULL, &index, MPI_STATUS_IGNORE));
  TRY(MPI_Waitany(1, &request, NULL, MPI_STATUS_IGNORE));
  TRY(MPI_Testany(1, NULL, &index, &flag, MPI_STATUS_IGNORE));
  TRY(MPI_Waitsome(1, NULL, &flag, &index, MPI_STATUSES_IGNORE));
  TRY(MPI_Testsome(1, NULL, &flag, &index, MPI_STATUSES_IGNORE));
  TRY(MPI_Request_free(NULL));
  TRY(MPI_Request_get_status(request, NULL, MPI_STATUS_IGNORE));
  TRY(MPI_Start(NULL));
  TRY(MPI_Startall(1, NULL));
  TRY(MPI_Cancel(NULL));
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  try_in_place(comm);
  try_without_counts(comm);
  try_negative_counts(comm);
  try_uncommitted(comm);
  try_without_places();
  int sum = 1;
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, comm);
  printf("sum %d\n", sum);
  MPI_Comm_free(&comm);
  MPI_Finalize();
  return 0;
}
