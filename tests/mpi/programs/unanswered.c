/* Calls that need data which only a dead rank had, and calls that do not. For 4 ranks; rank 0 kills
 * itself before any of them.
 *
 *   unanswered fatal|returns|own all|CALL
 *
 * The first word says which error handler the communicator has; CALL is a name of the table below.
 * The program looks at all codes. Each call that needs the dead one's data returns
 * MPIX_ERR_PROC_FAILED and leaves its buffer as it was, and a handler of the program hears of it
 * once. Of other calls it does not hear.
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

static int rank, size, heard;
static const char* name = "before";
static MPI_Comm comm;
static MPI_Request early, persistent;
static double data[n], later[n], all[4 * n], shown[n];
static MPI_Win window;

static void hear(MPI_Comm* on, int* code, ...) {
  if (*on == comm && *code != MPI_SUCCESS) ++heard;
}

static void hear_on_window(MPI_Win* on, int* code, ...) {
  if (*on == window && *code != MPI_SUCCESS) ++heard;
}

static int is_failed(int code) {
  char text[MPI_MAX_ERROR_STRING];
  int length;
  MPI_Error_string(code, text, &length);
  return code != MPI_SUCCESS && strstr(text, "PROC_FAILED");
}

static int receive(void) { return MPI_Recv(data, n, MPI_DOUBLE, 0, tag, comm, MPI_STATUS_IGNORE); }

static int exchange(void) {
  return MPI_Sendrecv(all, 1, MPI_DOUBLE, rank, tag, data, n, MPI_DOUBLE, 0, tag, comm,
                      MPI_STATUS_IGNORE);
}

static int probe(void) {
  MPI_Status status;
  return MPI_Probe(0, tag, comm, &status);
}

static int mprobe(void) {
  MPI_Message message;
  return MPI_Mprobe(0, tag, comm, &message, MPI_STATUS_IGNORE);
}

static int wait_for(MPI_Request request) { return MPI_Wait(&request, MPI_STATUS_IGNORE); }

static int ireceive(void) {
  MPI_Request request;
  MPI_Irecv(data, n, MPI_DOUBLE, 0, tag, comm, &request);
  return wait_for(request);
}

/* Started while the rank lived. */
static int waitall(void) {
  MPI_Request requests[2] = {early, MPI_REQUEST_NULL};
  MPI_Status statuses[2];
  return MPI_Waitall(2, requests, statuses) == MPI_ERR_IN_STATUS ? statuses[0].MPI_ERROR
                                                                 : MPI_SUCCESS;
}

static int test(void) {
  MPI_Request request;
  int flag = 0, code = MPI_SUCCESS;
  MPI_Irecv(data, n, MPI_DOUBLE, 0, tag, comm, &request);
  while (!flag && code == MPI_SUCCESS) code = MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
  return code;
}

static int started(void) {
  int code;
  MPI_Start(&persistent);
  code = MPI_Wait(&persistent, MPI_STATUS_IGNORE);
  MPI_Request_free(&persistent);
  return code;
}

static int broadcast(void) { return MPI_Bcast(data, n, MPI_DOUBLE, 0, comm); }
static int small_broadcast(void) { return MPI_Bcast(data, 1, MPI_DOUBLE, 0, comm); }

static int ibroadcast(void) {
  MPI_Request request;
  MPI_Ibcast(data, n, MPI_DOUBLE, 0, comm, &request);
  return wait_for(request);
}

static int scatter(void) { return MPI_Scatter(NULL, n, MPI_DOUBLE, data, n, MPI_DOUBLE, 0, comm); }

static int iscatterv(void) {
  MPI_Request request;
  MPI_Iscatterv(NULL, NULL, NULL, MPI_DOUBLE, data, n, MPI_DOUBLE, 0, comm, &request);
  return wait_for(request);
}

static int get(void) {
  MPI_Get(data, n, MPI_DOUBLE, 0, 0, n, MPI_DOUBLE, window);
  return MPI_Win_fence(0, window);
}

static const struct {
  const char* name;
  int (*run)(void);
} calls[] = {
    {"recv", receive},
    {"sendrecv", exchange},
    {"probe", probe},
    {"mprobe", mprobe},
    {"irecv", ireceive},
    {"waitall", waitall},
    {"test", test},
    {"start", started},
    {"bcast", broadcast},
    {"ibcast", ibroadcast},
    {"small-bcast", small_broadcast},
    {"scatter", scatter},
    {"iscatterv", iscatterv},
    {"get", get},
};

/* What lacks nothing: no handler hears of it, whatever it returns. */
static void ask_the_living(void) {
  const int left = rank == 1 ? size - 1 : rank - 1, right = rank == size - 1 ? 1 : rank + 1;
  MPI_Request requests[2];
  double sum, got = 0, one = 1;
  int flag;
  name = "the living";
  heard = 0;
  for (int i = 0; i < n; ++i) data[i] = rank;
  CHECK(MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, comm) == MPI_SUCCESS);
  CHECK(sum == size - 1);
  CHECK(MPI_Gather(data, n, MPI_DOUBLE, all, n, MPI_DOUBLE, 1, comm) == MPI_SUCCESS);
  CHECK(rank != 1 || all[2 * n] == 2);
  MPI_Gather(data, n, MPI_DOUBLE, NULL, n, MPI_DOUBLE, 0, comm);
  MPI_Reduce(data, NULL, n, MPI_DOUBLE, MPI_SUM, 0, comm);
  MPI_Send(data, 1, MPI_DOUBLE, 0, tag, comm);
  MPI_Send(data, n, MPI_DOUBLE, 0, tag, comm);
  MPI_Isend(data, n, MPI_DOUBLE, 0, tag, comm, &requests[0]);
  MPI_Irecv(&got, 1, MPI_DOUBLE, left, tag, comm, &requests[1]);
  MPI_Send(data, 1, MPI_DOUBLE, right, tag, comm);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  CHECK(got == left);
  MPI_Issend(data, n, MPI_DOUBLE, 0, tag, comm, &requests[0]);
  wait_for(requests[0]);
  MPI_Iprobe(0, tag, comm, &flag, MPI_STATUS_IGNORE);
  MPI_Send(data, 1, MPI_DOUBLE, right, tag + 1, comm);
  CHECK(MPI_Recv(&got, 1, MPI_DOUBLE, MPI_ANY_SOURCE, tag + 1, comm, MPI_STATUS_IGNORE) ==
        MPI_SUCCESS);
  CHECK(got == left);
  MPI_Send(data, 1, MPI_DOUBLE, right, tag, comm);
  MPI_Sendrecv(data, 1, MPI_DOUBLE, 0, tag, &got, 1, MPI_DOUBLE, left, tag, comm,
               MPI_STATUS_IGNORE);
  CHECK(got == left);
  MPI_Put(data, n, MPI_DOUBLE, 0, 0, n, MPI_DOUBLE, window);
  MPI_Get(&got, 1, MPI_DOUBLE, right, 0, 1, MPI_DOUBLE, window);
  CHECK(MPI_Win_fence(0, window) == MPI_SUCCESS && got == 0);
  CHECK(heard == 0);
}

static void ask_the_dead(const char* which, int has_handler) {
  for (size_t i = 0; i < sizeof calls / sizeof *calls; ++i) {
    name = calls[i].name;
    if (strcmp(which, "all") != 0 && strcmp(which, name) != 0) continue;
    heard = 0;
    for (int j = 0; j < n; ++j) data[j] = untouched;
    CHECK(is_failed(calls[i].run()));
    CHECK(heard == has_handler);
    for (int j = 0; j < n; ++j) CHECK(data[j] == untouched);
  }
}

int main(int argc, char** argv) {
  MPI_Errhandler mine, of_window;
  const int is_own = argc > 1 && strcmp(argv[1], "own") == 0;
  const int returns = argc > 1 && strcmp(argv[1], "returns") == 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_name(comm, "field");
  MPI_Comm_create_errhandler(hear, &mine);
  if (is_own) MPI_Comm_set_errhandler(comm, mine);
  if (returns) MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Errhandler_free(&mine);
  MPI_Win_create(shown, sizeof shown, sizeof *shown, MPI_INFO_NULL, comm, &window);
  MPI_Win_set_name(window, "shown");
  MPI_Win_create_errhandler(hear_on_window, &of_window);
  if (is_own) MPI_Win_set_errhandler(window, of_window);
  if (returns) MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
  MPI_Win_fence(0, window);
  MPI_Irecv(later, n, MPI_DOUBLE, 0, tag, comm, &early);
  MPI_Recv_init(data, n, MPI_DOUBLE, 0, tag, comm, &persistent);
  MPI_Barrier(comm);
  if (rank == 0) kill(getpid(), SIGKILL);
  ask_the_living();
  ask_the_dead(argv[2], is_own);
  ask_the_living();
  MPI_Win_free(&window);
  MPI_Errhandler_free(&of_window);
  MPI_Finalize();
  printf("rank %d is through\n", rank);
  return 0;
}
