/* Calls that MPI says are local, or that wait for what this process has begun: none waits for a
 * process that died meanwhile, or that never receives.
 *
 * For 3 ranks or more. Rank 1 dies without receiving anything. All others then use the calls, each
 * with something under way to it, and leave some of that to MPI_Finalize.
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { victim = 1, large = 1 << 20, small = 8, sends = 6 };

#define CHECK(condition)                                                            \
  do {                                                                              \
    if (!(condition)) {                                                             \
      fprintf(stderr, "WRONG: rank %d, line %d: %s\n", rank, __LINE__, #condition); \
      fflush(stderr);                                                               \
      _exit(1);                                                                     \
    }                                                                               \
  } while (0)

static int rank, size;
static char data[large], other[large], mine[large];

static int is_failed(int code) {
  char text[MPI_MAX_ERROR_STRING];
  int length;
  MPI_Error_string(code, text, &length);
  return code != MPI_SUCCESS && strstr(text, "PROC_FAILED");
}

/* Says which call it is in, for whoever finds that it waits. */
static void now(const char* call) {
  if (rank == 0) fprintf(stderr, "now %s\n", call);
}

static void begin_buffered(void* space, int bytes, MPI_Request* persistent) {
  MPI_Request request;
  CHECK(MPI_Buffer_attach(space, bytes) == MPI_SUCCESS);
  CHECK(MPI_Bsend(data, large, MPI_CHAR, victim, 1, MPI_COMM_WORLD) == MPI_SUCCESS);
  for (int i = 0; i < sends; ++i)
    CHECK(MPI_Bsend(data, small, MPI_CHAR, victim, 1, MPI_COMM_WORLD) == MPI_SUCCESS);
  CHECK(MPI_Ibsend(data, large, MPI_CHAR, victim, 1, MPI_COMM_WORLD, &request) == MPI_SUCCESS);
  CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
  MPI_Bsend_init(data, large, MPI_CHAR, victim, 1, MPI_COMM_WORLD, persistent);
  CHECK(MPI_Start(persistent) == MPI_SUCCESS);
  CHECK(MPI_Wait(persistent, MPI_STATUS_IGNORE) == MPI_SUCCESS);
}

/* Among the living buffered messages arrive, and their order is kept. */
static void check_buffered_among_living(void* space, int bytes) {
  const int next = rank + 1 == victim ? victim + 1 : (rank + 1) % size;
  const int previous = rank - 1 == victim ? victim - 1 : (rank + size - 1) % size;
  void* back;
  int got;
  CHECK(MPI_Buffer_attach(space, bytes) == MPI_SUCCESS);
  for (int i = 0; i < sends; ++i) {
    const int count = i % 2 ? large / 4 : small;
    mine[0] = (char)i;
    CHECK(MPI_Bsend(mine, count, MPI_CHAR, next, 2, MPI_COMM_WORLD) == MPI_SUCCESS);
  }
  for (int i = 0; i < sends; ++i) {
    MPI_Status status;
    int count;
    CHECK(MPI_Recv(other, large, MPI_CHAR, previous, 2, MPI_COMM_WORLD, &status) == MPI_SUCCESS);
    MPI_Get_count(&status, MPI_CHAR, &count);
    CHECK(other[0] == (char)i && count == (i % 2 ? large / 4 : small));
  }
  CHECK(MPI_Buffer_detach(&back, &got) == MPI_SUCCESS && back == space && got == bytes);
}

/* A buffer holds what it has room for, and no more. */
static void check_room(void) {
  static char little[small + MPI_BSEND_OVERHEAD];
  void* back;
  int got;
  MPI_Comm alone;
  MPI_Comm_dup(MPI_COMM_SELF, &alone);
  MPI_Comm_set_errhandler(alone, MPI_ERRORS_RETURN);
  MPI_Buffer_attach(little, sizeof little);
  CHECK(MPI_Bsend(data, large, MPI_CHAR, 0, 1, alone) != MPI_SUCCESS);
  MPI_Buffer_detach(&back, &got);
  CHECK(back == (void*)little && got == (int)sizeof little);
  CHECK(MPI_Bsend(data, small, MPI_CHAR, 0, 1, alone) != MPI_SUCCESS);
  MPI_Comm_free(&alone);
}

static void check_cancelled(MPI_Request* cancelled) {
  now("MPI_Cancel");
  for (int i = 0; i < 2; ++i) {
    CHECK(MPI_Cancel(&cancelled[i]) == MPI_SUCCESS);
    MPI_Wait(&cancelled[i], MPI_STATUS_IGNORE);
    CHECK(cancelled[i] == MPI_REQUEST_NULL);
  }
}

int main(int argc, char** argv) {
  MPI_Comm freed, parted, dup;
  MPI_Request buffered, cancelled[2], kept[3], typed, forgotten;
  MPI_Datatype type;
  MPI_Win window;
  void* back;
  int one = 1, sum, got, bytes = 4 * (large + MPI_BSEND_OVERHEAD);
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN); /* it looks at codes */
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  char* space = malloc((size_t)bytes);
  check_room();
  MPI_Comm_dup(MPI_COMM_WORLD, &freed);
  MPI_Comm_dup(MPI_COMM_WORLD, &parted);
  MPI_Comm_dup(MPI_COMM_WORLD, &dup);
  MPI_Win_create(other, large, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Win_fence(0, window);
  if (rank != victim) begin_buffered(space, bytes, &buffered);
  if (rank != victim) {
    MPI_Isend(data, large, MPI_CHAR, victim, 3, MPI_COMM_WORLD, &cancelled[0]);
    MPI_Irecv(other, large, MPI_CHAR, victim, 3, MPI_COMM_WORLD, &cancelled[1]);
    MPI_Isend(data, large, MPI_CHAR, victim, 4, freed, &kept[0]);
    MPI_Isend(data, large, MPI_CHAR, victim, 4, parted, &kept[1]);
    MPI_Issend(data, small, MPI_CHAR, victim, 4, dup, &kept[2]);
    MPI_Type_vector(large / 4, 2, 4, MPI_CHAR, &type);
    MPI_Type_commit(&type);
    MPI_Isend(data, 1, type, victim, 5, MPI_COMM_WORLD, &typed);
    MPI_Isend(data, large, MPI_CHAR, victim, 6, MPI_COMM_WORLD, &forgotten);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == victim) {
    usleep(100000);
    raise(SIGKILL);
  }
  while (!is_failed(MPI_Recv(&sum, 1, MPI_INT, victim, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE))) {
  }
  now("MPI_Buffer_detach");
  CHECK(MPI_Buffer_detach(&back, &got) == MPI_SUCCESS && back == space && got == bytes);
  CHECK(MPI_Request_free(&buffered) == MPI_SUCCESS);
  check_buffered_among_living(space, bytes);
  check_cancelled(cancelled);
  now("MPI_Request_free");
  CHECK(MPI_Request_free(&forgotten) == MPI_SUCCESS);
  now("MPI_Type_free");
  CHECK(MPI_Type_free(&type) == MPI_SUCCESS);
  CHECK(is_failed(MPI_Wait(&typed, MPI_STATUS_IGNORE)));
  now("MPI_Comm_set_errhandler");
  CHECK(MPI_Comm_set_errhandler(dup, MPI_ERRORS_RETURN) == MPI_SUCCESS);
  now("MPI_Comm_free");
  CHECK(MPI_Comm_free(&freed) == MPI_SUCCESS);
  now("MPI_Comm_disconnect");
  CHECK(MPI_Comm_disconnect(&parted) == MPI_SUCCESS);
  now("MPI_Win_free");
  CHECK(MPI_Win_free(&window) == MPI_SUCCESS);
  now("MPI_Wait");
  for (int i = 0; i < 3; ++i) CHECK(is_failed(MPI_Wait(&kept[i], MPI_STATUS_IGNORE)));
  now("MPI_Bsend");
  MPI_Buffer_attach(space, bytes);
  CHECK(is_failed(MPI_Bsend(data, small, MPI_CHAR, victim, 1, MPI_COMM_WORLD)));
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  CHECK(sum == size - 1);
  now("MPI_Finalize");
  MPI_Finalize(); /* with a freed request, and the buffer attached */
  printf("rank %d is through\n", rank);
  free(space);
  return 0;
}
