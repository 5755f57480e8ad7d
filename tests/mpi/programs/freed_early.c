/* Requests that need data which only a dead rank had, on communicators that were freed before the
 * calls that complete them. For 4 ranks; rank 0 kills itself.
 *
 *   freed_early fatal|own all|CALL
 *
 * MPI_COMM_WORLD returns errors; the first word says which handler the freed ones have. CALL is a
 * name of the table below. The request's own communicator counts: its handler hears once of each
 * call, under its name, and the buffer stays as it was.
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { n = 5000, untouched = -1, tag = 7 };

#define CHECK(condition)                                                                \
  do {                                                                                  \
    if (!(condition)) {                                                                 \
      fprintf(stderr, "WRONG: rank %d, %s:%d: %s\n", rank, name, __LINE__, #condition); \
      fflush(stderr);                                                                   \
      _exit(1);                                                                         \
    }                                                                                   \
  } while (0)

static int rank, heard, is_own;
static const char* name = "before";
static MPI_Errhandler mine;
static MPI_Comm kept, made_before_the_loss, gone_before_the_loss;
static MPI_Request early, early_collective, earliest;
static double data[n], other[n];
static char heard_on[MPI_MAX_OBJECT_NAME];

static void hear(MPI_Comm* on, int* code, ...) {
  int length;
  (void)code;
  ++heard;
  MPI_Comm_get_name(*on, heard_on, &length);
}

static int is_failed(int code) {
  char text[MPI_MAX_ERROR_STRING];
  int length;
  MPI_Error_string(code, text, &length);
  return code != MPI_SUCCESS && strstr(text, "PROC_FAILED");
}

/* The handler is set while requests may be there already: that of the end counts. */
static void part(MPI_Comm* comm) {
  MPI_Comm_set_name(*comm, "freed");
  if (is_own) MPI_Comm_create_errhandler(hear, &mine);
  MPI_Comm_set_errhandler(*comm, is_own ? mine : MPI_ERRORS_ARE_FATAL);
  if (is_own) MPI_Errhandler_free(&mine);
  MPI_Comm_free(comm);
}

static MPI_Comm duplicate(void) {
  MPI_Comm made;
  CHECK(MPI_Comm_dup(kept, &made) == MPI_SUCCESS);
  return made;
}

static MPI_Request receive_on_freed(void) {
  MPI_Comm comm = duplicate();
  MPI_Request request;
  MPI_Irecv(data, n, MPI_DOUBLE, 0, tag, comm, &request);
  part(&comm);
  return request;
}

static MPI_Request broadcast_on_freed(void) {
  MPI_Comm comm = duplicate();
  MPI_Request request;
  MPI_Ibcast(other, n, MPI_DOUBLE, 0, comm, &request);
  part(&comm);
  return request;
}

static int receive(void) {
  MPI_Request request = receive_on_freed();
  MPI_Status status;
  const int code = MPI_Wait(&request, &status);
  CHECK(status.MPI_SOURCE == 0);
  return code;
}

static int started_before(void) {
  MPI_Comm comm = duplicate();
  MPI_Request request;
  int code;
  MPI_Recv_init(data, n, MPI_DOUBLE, 0, tag, comm, &request);
  MPI_Start(&request);
  part(&comm);
  code = MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Request_free(&request);
  return code;
}

static int started_after(void) {
  MPI_Comm comm = duplicate();
  MPI_Request request;
  int code;
  MPI_Recv_init(data, n, MPI_DOUBLE, 0, tag, comm, &request);
  part(&comm);
  MPI_Start(&request);
  code = MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Request_free(&request);
  return code;
}

static int broadcast(void) {
  MPI_Request request = broadcast_on_freed();
  return MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static int persistent_broadcast(void) {
#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
  MPI_Comm comm = duplicate();
  MPI_Request request;
  int code;
  MPI_Bcast_init(other, n, MPI_DOUBLE, 0, comm, MPI_INFO_NULL, &request);
  part(&comm);
  MPI_Start(&request);
  code = MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Request_free(&request);
  return code;
#else
  return broadcast();
#endif
}

static int test(void) {
  MPI_Request request = receive_on_freed();
  int flag = 0, code = MPI_SUCCESS;
  while (!flag && code == MPI_SUCCESS) code = MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
  return code;
}

static int waitany(void) {
  MPI_Request requests[2] = {MPI_REQUEST_NULL, receive_on_freed()};
  int index;
  const int code = MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
  CHECK(index == 1);
  return code;
}

static int waitsome(void) {
  MPI_Request requests[2] = {MPI_REQUEST_NULL, receive_on_freed()};
  MPI_Status statuses[2];
  int indices[2], count;
  CHECK(MPI_Waitsome(2, requests, &count, indices, statuses) == MPI_ERR_IN_STATUS);
  CHECK(count == 1 && indices[0] == 1);
  return statuses[0].MPI_ERROR;
}

/* Both lack data: one of them is told. */
static int waitall(void) {
  MPI_Request requests[2] = {receive_on_freed(), broadcast_on_freed()};
  MPI_Status statuses[2];
  CHECK(MPI_Waitall(2, requests, statuses) == MPI_ERR_IN_STATUS);
  CHECK(is_failed(statuses[1].MPI_ERROR));
  return statuses[0].MPI_ERROR;
}

static int look(void) {
  MPI_Request request = receive_on_freed();
  MPI_Status status;
  int flag = 0;
  while (!flag) CHECK(MPI_Request_get_status(request, &flag, &status) == MPI_SUCCESS);
  CHECK(status.MPI_SOURCE == 0 && heard == 0);
  return MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static int wait_early(void) { return MPI_Wait(&early, MPI_STATUS_IGNORE); }
static int wait_early_broadcast(void) { return MPI_Wait(&early_collective, MPI_STATUS_IGNORE); }
static int wait_earliest(void) { return MPI_Wait(&earliest, MPI_STATUS_IGNORE); }

static const struct {
  const char* name;
  int (*run)(void);
} calls[] = {
    {"receive", receive},
    {"started-before", started_before},
    {"started-after", started_after},
    {"broadcast", broadcast},
    {"persistent-broadcast", persistent_broadcast},
    {"test", test},
    {"waitany", waitany},
    {"waitsome", waitsome},
    {"waitall", waitall},
    {"look", look},
    {"early", wait_early},
    {"early-broadcast", wait_early_broadcast},
    {"earliest", wait_earliest},
};

static void ask_the_dead(const char* which) {
  for (size_t i = 0; i < sizeof calls / sizeof *calls; ++i) {
    name = calls[i].name;
    if (strcmp(which, "all") != 0 && strcmp(which, name) != 0) continue;
    heard = 0;
    heard_on[0] = 0;
    for (int j = 0; j < n; ++j) data[j] = other[j] = untouched;
    CHECK(is_failed(calls[i].run()));
    CHECK(heard == 1);
    CHECK(strcmp(heard_on, "freed") == 0);
    for (int j = 0; j < n; ++j) CHECK(data[j] == untouched && other[j] == untouched);
  }
}

/* More often than communicators can be in use at a time after a loss
 * (docs/reference/after-a-loss.md): those that have no requests left make room. */
static void free_many(void) {
  name = "many";
  for (int i = 0; i < 80; ++i) {
    MPI_Comm comm = duplicate();
    MPI_Request requests[3];
    double got = 0, mine = rank;
    MPI_Recv_init(data, n, MPI_DOUBLE, MPI_PROC_NULL, tag, comm, &requests[2]);
    MPI_Irecv(&got, 1, MPI_DOUBLE, rank == 3 ? 1 : rank + 1, tag, comm, &requests[0]);
    MPI_Isend(&mine, 1, MPI_DOUBLE, rank == 1 ? 3 : rank - 1, tag, comm, &requests[1]);
    MPI_Comm_free(&comm);
    CHECK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE) == MPI_SUCCESS);
    CHECK(got == (rank == 3 ? 1 : rank + 1));
    MPI_Request_free(&requests[2]);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  is_own = strcmp(argv[1], "own") == 0;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_dup(MPI_COMM_WORLD, &kept);
  MPI_Comm_dup(MPI_COMM_WORLD, &made_before_the_loss);
  MPI_Comm_dup(MPI_COMM_WORLD, &gone_before_the_loss);
  MPI_Irecv(data, n, MPI_DOUBLE, 0, tag, made_before_the_loss, &early);
  MPI_Irecv(data, n, MPI_DOUBLE, 0, tag, gone_before_the_loss, &earliest);
  part(&gone_before_the_loss);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) kill(getpid(), SIGKILL);
  MPI_Ibcast(other, n, MPI_DOUBLE, 0, made_before_the_loss, &early_collective);
  MPI_Barrier(MPI_COMM_WORLD);
  part(&made_before_the_loss);
  ask_the_dead(argv[2]);
  free_many();
  MPI_Finalize();
  printf("rank %d is through\n", rank);
  return 0;
}
