// Small collectives that are started and wait for a rank which never comes: it revokes their
// communicator.
#include <mpi.h>

#include <mpi-ext.h>
#include <stdio.h>
#include <unistd.h>

enum { rounds = 20 };

static int is_revoked(int code) {
  int class = MPI_SUCCESS;
  MPI_Error_class(code, &class);
  return class == MPIX_ERR_REVOKED;
}

// How many of the two did not end by the revocation, when they were started or waited for.
static int count_wrong(MPI_Comm comm) {
  MPI_Request requests[2];
  int one = 1;
  int sum = 0;
  int codes[2];
  int wrong = 0;
  codes[0] = MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm, &requests[0]);
  codes[1] = MPI_Ibarrier(comm, &requests[1]);
  for (int i = 0; i < 2; ++i) {
    if (codes[i] == MPI_SUCCESS) codes[i] = MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    wrong += !is_revoked(codes[i]);
  }
  return wrong;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int wrong = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int round = 0; round < rounds; ++round) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Barrier(comm);
    if (rank == 0) {
      usleep(2000);
      MPIX_Comm_revoke(comm);
    } else {
      wrong += count_wrong(comm);
    }
    MPI_Comm_free(&comm);
  }
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("wrong: %d\n", wrong);
  MPI_Finalize();
  return 0;
}
