// The program's error handler repairs what a loss has broken: it calls functions of ULFM itself,
// and may go back with longjmp, as ULFM's tutorial does.
//
//     repairing_handlers CALL REPAIR [jump]
#include <mpi.h>

#include <mpi-ext.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

static jmp_buf before_call;
static const char* repair;
static int jumps, is_repairing, repairs;

static void handle(MPI_Comm* comm, int* code, ...) {
  (void)code;
  if (is_repairing) return;
  is_repairing = 1;
  ++repairs;
  int flag = 1;
  if (strcmp(repair, "revoke") == 0) MPIX_Comm_revoke(*comm);
  if (strcmp(repair, "agree") == 0) MPIX_Comm_agree(*comm, &flag);
  if (strcmp(repair, "shrink") == 0) {
    MPI_Comm left = MPI_COMM_NULL;
    int one = 1, sum = 0;
    MPIX_Comm_shrink(*comm, &left);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, left);
    if (sum != 3) printf("wrong: %d are left\n", sum);
    MPI_Comm_free(&left);
  }
  is_repairing = 0;
  if (jumps) longjmp(before_call, 1);
}

static void call(const char* name, MPI_Comm comm, int lost) {
  int flag = 1;
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Request request = MPI_REQUEST_NULL;
  if (strcmp(name, "agree") == 0) MPIX_Comm_agree(comm, &flag);
  if (strcmp(name, "iagree") == 0) {
    MPIX_Comm_iagree(comm, &flag, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  if (strcmp(name, "barrier") == 0) MPI_Barrier(comm);
  if (strcmp(name, "recv") == 0) MPI_Recv(&flag, 1, MPI_INT, lost, 0, comm, MPI_STATUS_IGNORE);
  if (strcmp(name, "dup") == 0) MPI_Comm_dup(comm, &made);
  if (strcmp(name, "shrink") == 0) MPIX_Comm_shrink(comm, NULL);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  repair = argv[2];
  jumps = argc > 3;
  int rank, size;
  MPI_Comm comm, between;
  MPI_Errhandler handler;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_dup(MPI_COMM_WORLD, &between);
  MPI_Comm_set_errhandler(between, MPI_ERRORS_RETURN);
  MPI_Comm_create_errhandler(handle, &handler);
  MPI_Comm_set_errhandler(comm, handler);
  if (rank == size - 1) raise(SIGKILL);
  if (setjmp(before_call) == 0) call(argv[1], comm, size - 1);
  int sum = 0, one = 1;
  MPI_Comm left = MPI_COMM_NULL;
  MPIX_Comm_shrink(between, &left);
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, left);
  printf("rank %d: %s, %d left\n", rank, repairs == 0 ? "no repair" : "repaired", sum);
  MPI_Comm_free(&left);
  MPI_Finalize();
  return 0;
}
