/* Communicators with hints for their broadcasts: good ones, wrong ones, and those of others.
 * Rank 0 prints "ok".
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define CHECK(condition)                                                       \
  do {                                                                         \
    if (!(condition)) {                                                        \
      fprintf(stderr, "WRONG: rank %d, %d: %s\n", rank, __LINE__, #condition); \
      fflush(stderr);                                                          \
      _exit(1);                                                                \
    }                                                                          \
  } while (0)

static int rank;

/* The class of the error. */
static int set_hint(MPI_Comm comm, const char* key, const char* value) {
  MPI_Info info;
  int class;
  MPI_Info_create(&info);
  MPI_Info_set(info, key, value);
  MPI_Error_class(MPI_Comm_set_info(comm, info), &class);
  MPI_Info_free(&info);
  return class;
}

static void check_broadcasts(MPI_Comm comm) {
  for (int root = 0; root < 2; ++root) {
    int number = rank == root ? 40 + root : -1;
    CHECK(MPI_Bcast(&number, 1, MPI_INT, root, comm) == MPI_SUCCESS);
    CHECK(number == 40 + root);
  }
}

int main(int argc, char** argv) {
  MPI_Comm comm;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  CHECK(set_hint(comm, "resprout_bcast", "corrected-gossip:rounds=3") == MPI_SUCCESS);
  check_broadcasts(comm);
  CHECK(set_hint(comm, "resprout_bcast", "corrected-tree:tree=oak") == MPI_ERR_INFO_VALUE);
  CHECK(set_hint(comm, "somebody_elses_key", "1") == MPI_SUCCESS);
  check_broadcasts(comm);
  CHECK(set_hint(comm, "resprout_bcast", "corrected-tree:tree=lame,k=2") == MPI_SUCCESS);
  check_broadcasts(comm);
  CHECK(set_hint(comm, "resprout_collectives", "native") == MPI_SUCCESS);
  check_broadcasts(comm);
  CHECK(set_hint(comm, "resprout_collectives", "mine") == MPI_ERR_INFO_VALUE);
  CHECK(set_hint(comm, "resprout_collectives", "resprout") == MPI_SUCCESS);
  check_broadcasts(comm);
  MPI_Comm_free(&comm);
  if (rank == 0) puts("ok");
  MPI_Finalize();
  return 0;
}
