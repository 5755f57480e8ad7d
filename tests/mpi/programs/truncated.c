/* Messages that are larger than the buffers of their receivers, in each form of a receive.
 *
 * Rank 0 sends, the others receive the first numbers of each message and MPI_ERR_TRUNCATE; one
 * message behind each fits. Says what is wrong, and else nothing. */
#include <mpi.h>

#include <stdio.h>

enum { SENT = 900, RECEIVED = 8, FORMS = 6 };

static int rank, size;

static void check(int is_right, const char* what, int form) {
  if (is_right) return;
  printf("rank %d: wrong: %s of form %d\n", rank, what, form);
  fflush(stdout);
}

static int class_of(int code) {
  int class;
  MPI_Error_class(code, &class);
  return class;
}

static int receive(int form, int* got) {
  MPI_Request request, both[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  MPI_Status statuses[2];
  MPI_Message message;
  int code, index;
  switch (form) {
    case 0:
      return MPI_Recv(got, RECEIVED, MPI_INT, 0, form, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    case 1:
      return MPI_Recv(got, RECEIVED, MPI_INT, MPI_ANY_SOURCE, form, MPI_COMM_WORLD, &statuses[0]);
    case 2:
      MPI_Irecv(got, RECEIVED, MPI_INT, 0, form, MPI_COMM_WORLD, &request);
      return MPI_Wait(&request, MPI_STATUS_IGNORE);
    case 3:
      MPI_Irecv(got, RECEIVED, MPI_INT, 0, form, MPI_COMM_WORLD, &both[1]);
      code = MPI_Waitall(2, both, statuses);
      return class_of(code) == MPI_ERR_IN_STATUS ? statuses[1].MPI_ERROR : code;
    case 4:
      MPI_Irecv(got, RECEIVED, MPI_INT, 0, form, MPI_COMM_WORLD, &both[1]);
      return MPI_Waitany(2, both, &index, MPI_STATUS_IGNORE);
    default:
      MPI_Mprobe(0, form, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
      return MPI_Mrecv(got, RECEIVED, MPI_INT, &message, MPI_STATUS_IGNORE);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  for (int form = 0; form < FORMS; ++form) {
    int numbers[SENT];
    for (int i = 0; i < SENT; ++i) numbers[i] = rank == 0 ? 1000 * form + i : -1;
    for (int to = 1; rank == 0 && to < size; ++to) {
      MPI_Send(numbers, SENT, MPI_INT, to, form, MPI_COMM_WORLD);
      MPI_Send(numbers, RECEIVED, MPI_INT, to, form, MPI_COMM_WORLD);
    }
    for (int message = 0; rank != 0 && message < 2; ++message) {
      const int class = class_of(receive(form, numbers));
      check(class == (message == 0 ? MPI_ERR_TRUNCATE : MPI_SUCCESS), "the end", form);
      check(numbers[1] == 1000 * form + 1, "a number", form);
    }
  }
  MPI_Finalize();
  return 0;
}
