/* What a plain MPI program sees when the process it talks to is killed. One case a run:
 *
 *   point_to_point CASE [VICTIM]
 *
 * For 4 ranks, with `--on-unanswered ignore`. It leaves MPI_ERRORS_ARE_FATAL in place: no loss may
 * ever reach it. The victim (rank 1 if not said otherwise) kills itself; every survivor checks what
 * its calls return, then that all survivors still reach each other on the same communicator. Then
 * it says that it is through; if a check does not hold, a line on stderr says which one, and where.
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHECK(condition)                                                                    \
  do {                                                                                      \
    if (!(condition)) {                                                                     \
      fprintf(stderr, "WRONG: rank %d, %s:%d: %s\n", rank, __func__, __LINE__, #condition); \
      fflush(stderr);                                                                       \
      _exit(1);                                                                             \
    }                                                                                       \
  } while (0)

enum { data_tag = 1, never_tag = 2, late_tag = 3, check_tag = 4, large = 1 << 22 };

static int rank, size, victim = 1;
static MPI_Comm comm, pair; /* everybody; the victim and the first survivor */

/* Ranks of survivors, the others' and ours. */
static int next_alive(int from) {
  do from = (from + 1) % size;
  while (from == victim);
  return from;
}
static int previous_alive(int from) {
  do from = (from + size - 1) % size;
  while (from == victim);
  return from;
}
static int is_first_alive(void) { return rank == (victim == 0 ? 1 : 0); }

static int is_failed(int code) {
  char text[MPI_MAX_ERROR_STRING];
  int length;
  MPI_Error_string(code, text, &length);
  return code != MPI_SUCCESS && strstr(text, "PROC_FAILED") && !strstr(text, "PENDING");
}

static void pause_ms(int ms) { usleep((useconds_t)ms * 1000); }

static void die(void) {
  kill(getpid(), SIGKILL);
  pause();
}

static void die_soon(void) {
  pause_ms(200);
  die();
}

static void stop_soon(void) {
  pause_ms(200);
  kill(getpid(), SIGSTOP);
  pause();
}

static void await_loss(void) {
  int none;
  CHECK(is_failed(MPI_Recv(&none, 1, MPI_INT, victim, never_tag, comm, MPI_STATUS_IGNORE)));
}

/* A number that a living rank sends late, well after the loss. */
static void send_late(int to) {
  int value = 1000 + rank;
  pause_ms(400);
  CHECK(MPI_Send(&value, 1, MPI_INT, to, late_tag, comm) == MPI_SUCCESS);
}

/* --- blocking calls ----------------------------------------------------------------------------*/

static void recv_blocked(void) {
  int value = -7;
  MPI_Status status;
  CHECK(is_failed(MPI_Recv(&value, 1, MPI_INT, victim, data_tag, comm, &status)));
  CHECK(value == -7);
  CHECK(is_failed(MPI_Recv(&value, 1, MPI_INT, victim, MPI_ANY_TAG, comm, &status)));
}

static void send_then_die(void) {
  for (int to = 0; to < size; ++to)
    if (to != victim) CHECK(MPI_Send(&to, 1, MPI_INT, to, data_tag, comm) == MPI_SUCCESS);
  pause_ms(200);
  die();
}
static void recv_what_came_before(void) {
  int value = -7;
  await_loss();
  int code = MPI_Recv(&value, 1, MPI_INT, victim, data_tag, comm, MPI_STATUS_IGNORE);
  CHECK((code == MPI_SUCCESS && value == rank) || (is_failed(code) && value == -7));
}

static void send_large(void) {
  char* data = calloc(1, large);
  CHECK(is_failed(MPI_Send(data, large, MPI_CHAR, victim, data_tag, comm)));
  CHECK(is_failed(MPI_Send(data, large, MPI_CHAR, victim, data_tag, comm)));
  free(data);
}
static void ssend_blocked(void) {
  int value = 5;
  CHECK(is_failed(MPI_Ssend(&value, 1, MPI_INT, victim, data_tag, comm)));
}
/* More than any buffer between the two takes, to somebody who reads none of it. */
static void flood(void) {
  char data[512] = "";
  int code = MPI_SUCCESS;
  for (int i = 0; i < 20000 && code == MPI_SUCCESS; ++i)
    code = MPI_Send(data, sizeof data, MPI_CHAR, victim, data_tag, comm);
  if (code == MPI_SUCCESS) code = MPI_Ssend(data, 1, MPI_CHAR, victim, data_tag, comm);
  CHECK(is_failed(code));
}
static void send_to_known_lost(void) {
  int value = 5;
  static char space[4096];
  await_loss();
  CHECK(is_failed(MPI_Send(&value, 1, MPI_INT, victim, data_tag, comm)));
  CHECK(is_failed(MPI_Ssend(&value, 1, MPI_INT, victim, data_tag, comm)));
  CHECK(is_failed(MPI_Rsend(&value, 1, MPI_INT, victim, data_tag, comm)));
  MPI_Buffer_attach(space, sizeof space);
  CHECK(is_failed(MPI_Bsend(&value, 1, MPI_INT, victim, data_tag, comm)));
  void* detached;
  int bytes;
  MPI_Buffer_detach(&detached, &bytes);
}

/* Everybody shifts to the right; the victim's neighbours lack one half of it. */
static void sendrecv_ring(void) {
  int right = (rank + 1) % size, left = (rank + size - 1) % size;
  for (int round = 0; round < 3; ++round) {
    int mine = 10 * round + rank, theirs = -7;
    int code = MPI_Sendrecv(&mine, 1, MPI_INT, right, data_tag, &theirs, 1, MPI_INT, left, data_tag,
                            comm, MPI_STATUS_IGNORE);
    if (left == victim) CHECK(is_failed(code) && theirs == -7);
    if (left != victim) CHECK(theirs == 10 * round + left);
    /* A small message to the dead may have left before anybody knew. */
    if (right == victim && round > 0 && code != MPI_SUCCESS) CHECK(is_failed(code));
    if (left != victim && right != victim) CHECK(code == MPI_SUCCESS);
  }
}
static void sendrecv_replace_ring(void) {
  int right = (rank + 1) % size, left = (rank + size - 1) % size;
  for (int round = 0; round < 3; ++round) {
    double both[2] = {round + 0.5, rank};
    int code = MPI_Sendrecv_replace(both, 2, MPI_DOUBLE, right, data_tag, left, data_tag, comm,
                                    MPI_STATUS_IGNORE);
    CHECK(both[0] == round + 0.5);
    CHECK(both[1] == (left == victim ? rank : left));
    if (left == victim) CHECK(is_failed(code));
    if (left != victim && right != victim) CHECK(code == MPI_SUCCESS);
  }
}

#include "point_to_point_isendrecv.h"

/* --- wildcards ---------------------------------------------------------------------------------*/

/* The first survivor hears from all other survivors, late; the others just speak. */
static void recv_any(void) {
  if (!is_first_alive()) {
    send_late(victim == 0 ? 1 : 0);
    return;
  }
  int sum = 0, expected = 0;
  for (int other = next_alive(rank); other != rank; other = next_alive(other)) {
    int value = 0;
    MPI_Status status;
    CHECK(MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, late_tag, comm, &status) == MPI_SUCCESS);
    CHECK(value == 1000 + status.MPI_SOURCE && status.MPI_TAG == late_tag);
    sum += value;
    expected += 1000 + other;
  }
  CHECK(sum == expected);
}
static void probe_any(void) {
  if (!is_first_alive()) {
    send_late(victim == 0 ? 1 : 0);
    return;
  }
  for (int other = next_alive(rank), n = 0; other != rank; other = next_alive(other), ++n) {
    int value = 0, flag = 0;
    MPI_Status status;
    MPI_Message message;
    if (n % 3 == 0) CHECK(MPI_Probe(MPI_ANY_SOURCE, late_tag, comm, &status) == MPI_SUCCESS);
    while (n % 3 == 1 && !flag)
      CHECK(MPI_Iprobe(MPI_ANY_SOURCE, late_tag, comm, &flag, &status) == MPI_SUCCESS);
    CHECK(MPI_Mprobe(MPI_ANY_SOURCE, late_tag, comm, &message, &status) == MPI_SUCCESS);
    CHECK(MPI_Mrecv(&value, 1, MPI_INT, &message, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    CHECK(value == 1000 + status.MPI_SOURCE);
  }
}
static void irecv_any(void) {
  if (!is_first_alive()) {
    send_late(victim == 0 ? 1 : 0);
    return;
  }
  int values[8] = {0}, count = 0, sum = 0, expected = 0;
  MPI_Request requests[8];
  for (int other = next_alive(rank); other != rank; other = next_alive(other)) {
    expected += 1000 + other;
    MPI_Irecv(&values[count], 1, MPI_INT, MPI_ANY_SOURCE, late_tag, comm, &requests[count]);
    ++count;
  }
  int flag = 0;
  while (!flag) CHECK(MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE) == MPI_SUCCESS);
  CHECK(MPI_Wait(&requests[1], MPI_STATUS_IGNORE) == MPI_SUCCESS);
  for (int i = 0; i < count; ++i) sum += values[i];
  CHECK(sum == expected);
}
static void irecv_any_waitall(void) {
  if (!is_first_alive()) {
    send_late(victim == 0 ? 1 : 0);
    return;
  }
  int values[8] = {0}, count = 0;
  MPI_Request requests[8];
  MPI_Status statuses[8];
  for (int other = next_alive(rank); other != rank; other = next_alive(other), ++count)
    MPI_Irecv(&values[count], 1, MPI_INT, MPI_ANY_SOURCE, late_tag, comm, &requests[count]);
  CHECK(MPI_Waitall(count, requests, statuses) == MPI_SUCCESS);
  for (int i = 0; i < count; ++i) CHECK(values[i] == 1000 + statuses[i].MPI_SOURCE);
}
static void irecv_any_testall(void) {
  if (!is_first_alive()) {
    send_late(victim == 0 ? 1 : 0);
    return;
  }
  int values[8] = {0}, count = 0, flag = 0;
  MPI_Request requests[8];
  for (int other = next_alive(rank); other != rank; other = next_alive(other), ++count)
    MPI_Irecv(&values[count], 1, MPI_INT, MPI_ANY_SOURCE, late_tag, comm, &requests[count]);
  while (!flag) CHECK(MPI_Testall(count, requests, &flag, MPI_STATUSES_IGNORE) == MPI_SUCCESS);
  for (int i = 0; i < count; ++i) CHECK(values[i] >= 1000 && requests[i] == MPI_REQUEST_NULL);
}
static void irecv_any_some(void) {
  if (!is_first_alive()) {
    send_late(victim == 0 ? 1 : 0);
    return;
  }
  int values[8] = {0}, count = 0;
  MPI_Request requests[8];
  for (int other = next_alive(rank); other != rank; other = next_alive(other), ++count)
    MPI_Irecv(&values[count], 1, MPI_INT, MPI_ANY_SOURCE, late_tag, comm, &requests[count]);
  int index = -1, outcount = 0, indices[8];
  CHECK(MPI_Waitany(count, requests, &index, MPI_STATUS_IGNORE) == MPI_SUCCESS);
  CHECK(index >= 0 && index < count && values[index] >= 1000);
  CHECK(MPI_Waitsome(count, requests, &outcount, indices, MPI_STATUSES_IGNORE) == MPI_SUCCESS);
  CHECK(outcount == 1 && values[indices[0]] >= 1000);
}

/* Where nobody else is left to hear from. */
static void any_of_nobody(void) {
  int value = -7;
  await_loss();
  if (!is_first_alive()) return;
  MPI_Request request;
  CHECK(is_failed(MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, data_tag, pair, MPI_STATUS_IGNORE)));
  MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, data_tag, pair, &request);
  CHECK(is_failed(MPI_Wait(&request, MPI_STATUS_IGNORE)));
  CHECK(request == MPI_REQUEST_NULL);
  CHECK(is_failed(MPI_Probe(MPI_ANY_SOURCE, data_tag, pair, MPI_STATUS_IGNORE)));
  /* But oneself. */
  int self = 42;
  MPI_Isend(&self, 1, MPI_INT, rank, data_tag, pair, &request);
  CHECK(MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, data_tag, pair, MPI_STATUS_IGNORE) ==
        MPI_SUCCESS);
  CHECK(value == 42);
  CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
}

#include "point_to_point_probes.h"
#include "point_to_point_unsent.h"

/* --- requests ----------------------------------------------------------------------------------*/

static void wait_single(void) {
  int value = -7;
  MPI_Request request;
  MPI_Irecv(&value, 1, MPI_INT, victim, data_tag, comm, &request);
  CHECK(is_failed(MPI_Wait(&request, MPI_STATUS_IGNORE)));
  CHECK(request == MPI_REQUEST_NULL && value == -7);
}
static void test_single(void) {
  int value = -7, flag = 0, code = MPI_SUCCESS;
  MPI_Request request;
  MPI_Irecv(&value, 1, MPI_INT, victim, data_tag, comm, &request);
  while (!flag && code == MPI_SUCCESS) code = MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
  CHECK(is_failed(code) && flag && request == MPI_REQUEST_NULL && value == -7);
}
static void wait_sends(void) {
  char* data = calloc(1, large);
  int value = 1;
  MPI_Request requests[2];
  MPI_Status statuses[2];
  MPI_Isend(data, large, MPI_CHAR, victim, data_tag, comm, &requests[0]);
  MPI_Issend(&value, 1, MPI_INT, victim, data_tag, comm, &requests[1]);
  CHECK(MPI_Waitall(2, requests, statuses) == MPI_ERR_IN_STATUS);
  CHECK(is_failed(statuses[0].MPI_ERROR) && is_failed(statuses[1].MPI_ERROR));
  CHECK(requests[0] == MPI_REQUEST_NULL && requests[1] == MPI_REQUEST_NULL);
  free(data);
}

/* From the left neighbour late, from the victim never, to the right neighbour now. */
struct mixed {
  MPI_Request requests[4];
  int sent, received, never;
};
static void start_mixed(struct mixed* m) {
  m->sent = 2000 + rank;
  m->received = m->never = -7;
  MPI_Irecv(&m->never, 1, MPI_INT, victim, data_tag, comm, &m->requests[0]);
  MPI_Irecv(&m->received, 1, MPI_INT, previous_alive(rank), data_tag, comm, &m->requests[1]);
  m->requests[2] = MPI_REQUEST_NULL;
  pause_ms(400);
  MPI_Isend(&m->sent, 1, MPI_INT, next_alive(rank), data_tag, comm, &m->requests[3]);
}
static void check_mixed(const struct mixed* m) {
  for (int i = 0; i < 4; ++i) CHECK(m->requests[i] == MPI_REQUEST_NULL);
  CHECK(m->received == 2000 + previous_alive(rank));
  CHECK(m->never == -7);
}
static void waitall_mixed(void) {
  struct mixed m;
  MPI_Status statuses[4];
  start_mixed(&m);
  CHECK(MPI_Waitall(4, m.requests, statuses) == MPI_ERR_IN_STATUS);
  CHECK(is_failed(statuses[0].MPI_ERROR));
  for (int i = 1; i < 4; ++i) CHECK(statuses[i].MPI_ERROR == MPI_SUCCESS);
  CHECK(statuses[1].MPI_SOURCE == previous_alive(rank));
  check_mixed(&m);
}
static void waitall_ignoring(void) {
  struct mixed m;
  start_mixed(&m);
  CHECK(MPI_Waitall(4, m.requests, MPI_STATUSES_IGNORE) == MPI_ERR_IN_STATUS);
  check_mixed(&m);
}
static void waitany_mixed(void) {
  struct mixed m;
  int failed = 0;
  start_mixed(&m);
  for (int i = 0; i < 3; ++i) {
    int index = -1;
    int code = MPI_Waitany(4, m.requests, &index, MPI_STATUS_IGNORE);
    CHECK(index == 0 ? is_failed(code) : code == MPI_SUCCESS);
    failed += index == 0;
  }
  CHECK(failed == 1);
  check_mixed(&m);
  int index = 0;
  CHECK(MPI_Waitany(4, m.requests, &index, MPI_STATUS_IGNORE) == MPI_SUCCESS);
  CHECK(index == MPI_UNDEFINED);
}
static void testany_mixed(void) {
  struct mixed m;
  int failed = 0, done = 0;
  start_mixed(&m);
  while (done < 3) {
    int index = -1, flag = 0;
    int code = MPI_Testany(4, m.requests, &index, &flag, MPI_STATUS_IGNORE);
    CHECK(flag && index == 0 ? is_failed(code) : code == MPI_SUCCESS);
    done += flag;
    failed += flag && index == 0;
  }
  CHECK(failed == 1);
  check_mixed(&m);
}
static void some_mixed(int (*some)(int, MPI_Request[], int*, int[], MPI_Status[])) {
  struct mixed m;
  int failed = 0, done = 0;
  start_mixed(&m);
  while (done < 3) {
    int outcount = 0, indices[4];
    MPI_Status statuses[4];
    int code = some(4, m.requests, &outcount, indices, statuses);
    CHECK(outcount != MPI_UNDEFINED);
    for (int k = 0; k < outcount; ++k) {
      int error = code == MPI_ERR_IN_STATUS ? statuses[k].MPI_ERROR : code;
      CHECK(indices[k] == 0 ? is_failed(error) : error == MPI_SUCCESS);
      failed += indices[k] == 0;
    }
    done += outcount;
  }
  CHECK(failed == 1);
  check_mixed(&m);
}
static void waitsome_mixed(void) { some_mixed(MPI_Waitsome); }
static void testsome_mixed(void) { some_mixed(MPI_Testsome); }
static void testall_mixed(void) {
  struct mixed m;
  int flag = 0, failed = 0;
  start_mixed(&m);
  while (!flag) {
    MPI_Status statuses[4];
    int code = MPI_Testall(4, m.requests, &flag, statuses);
    CHECK(code == MPI_SUCCESS || code == MPI_ERR_IN_STATUS);
    if (code == MPI_ERR_IN_STATUS) failed += is_failed(statuses[0].MPI_ERROR);
  }
  CHECK(failed == 1);
  check_mixed(&m);
}

static void persistent(void) {
  int value = 3, got = -7;
  MPI_Request requests[2];
  MPI_Send_init(&value, 1, MPI_INT, victim, data_tag, comm, &requests[0]);
  MPI_Recv_init(&got, 1, MPI_INT, victim, data_tag, comm, &requests[1]);
  CHECK(MPI_Start(&requests[1]) == MPI_SUCCESS);
  CHECK(is_failed(MPI_Wait(&requests[1], MPI_STATUS_IGNORE)));
  await_loss();
  CHECK(MPI_Startall(2, requests) == MPI_SUCCESS);
  CHECK(is_failed(MPI_Wait(&requests[0], MPI_STATUS_IGNORE)));
  CHECK(is_failed(MPI_Wait(&requests[1], MPI_STATUS_IGNORE)));
  CHECK(MPI_Request_free(&requests[0]) == MPI_SUCCESS);
  if (requests[1] != MPI_REQUEST_NULL) MPI_Request_free(&requests[1]);
  CHECK(got == -7);
}
static void persistent_among_living(void) {
  int out = 0, in = -7;
  MPI_Request requests[2];
  MPI_Send_init(&out, 1, MPI_INT, next_alive(rank), data_tag, comm, &requests[0]);
  MPI_Recv_init(&in, 1, MPI_INT, previous_alive(rank), data_tag, comm, &requests[1]);
  await_loss();
  for (int round = 0; round < 20; ++round) {
    out = 100 * round + rank;
    CHECK(MPI_Startall(2, requests) == MPI_SUCCESS);
    CHECK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE) == MPI_SUCCESS);
    CHECK(in == 100 * round + previous_alive(rank));
  }
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
}
static void cancel(void) {
  int value = -7, is_cancelled = 0;
  MPI_Request request;
  MPI_Status status;
  MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, never_tag + 10, comm, &request);
  await_loss();
  CHECK(MPI_Cancel(&request) == MPI_SUCCESS);
  CHECK(MPI_Wait(&request, &status) == MPI_SUCCESS);
  MPI_Test_cancelled(&status, &is_cancelled);
  CHECK(is_cancelled && request == MPI_REQUEST_NULL);
}
static void request_free(void) {
  int value = 0;
  MPI_Request request;
  MPI_Isend(&value, 1, MPI_INT, next_alive(rank), data_tag, comm, &request);
  CHECK(MPI_Request_free(&request) == MPI_SUCCESS && request == MPI_REQUEST_NULL);
  CHECK(MPI_Recv(&value, 1, MPI_INT, previous_alive(rank), data_tag, comm, MPI_STATUS_IGNORE) ==
        MPI_SUCCESS);
}

/* --- the cases ---------------------------------------------------------------------------------*/

static const struct test_case {
  const char* name;
  void (*survive)(void);
  void (*fall)(void);
} cases[] = {
    {"recv", recv_blocked, die_soon},
    {"recv-stopped", recv_blocked, stop_soon},
    {"recv-what-came-before", recv_what_came_before, send_then_die},
    {"send-large", send_large, die_soon},
    {"send-large-stopped", send_large, stop_soon},
    {"ssend", ssend_blocked, die_soon},
    {"flood", flood, die_soon},
    {"flood-stopped", flood, stop_soon},
    {"send-to-known-lost", send_to_known_lost, die_soon},
    {"sendrecv", sendrecv_ring, die_soon},
    {"sendrecv-late", sendrecv_ring, die},
    {"sendrecv-replace", sendrecv_replace_ring, die_soon},
    {"isendrecv", isendrecv_ring, die_soon},
    {"isendrecv-late", isendrecv_ring, die},
    {"isendrecv-large", isendrecv_large_ring, die_soon},
    {"isendrecv-replace", isendrecv_replace_ring, die_soon},
    {"isendrecv-replace-large", isendrecv_replace_large_ring, die_soon},
    {"isendrecv-stopped", isendrecv_large_ring, stop_soon},
    {"isendrecv-completions", isendrecv_completions, die_soon},
    {"recv-any", recv_any, die_soon},
    {"recv-any-stopped", recv_any, stop_soon},
    {"probe-any", probe_any, die_soon},
    {"irecv-any", irecv_any, die_soon},
    {"irecv-any-waitall", irecv_any_waitall, die_soon},
    {"irecv-any-testall", irecv_any_testall, die_soon},
    {"irecv-any-some", irecv_any_some, die_soon},
    {"any-of-nobody", any_of_nobody, die_soon},
    {"probes", probes, die_soon},
    {"matched-before", matched_before, send_until_matched},
    {"iprobe", iprobe_until_lost, die_soon},
    {"wait", wait_single, die_soon},
    {"test", test_single, die_soon},
    {"wait-sends", wait_sends, die_soon},
    {"waitall", waitall_mixed, die_soon},
    {"waitall-ignoring", waitall_ignoring, die_soon},
    {"waitany", waitany_mixed, die_soon},
    {"testany", testany_mixed, die_soon},
    {"waitsome", waitsome_mixed, die_soon},
    {"testsome", testsome_mixed, die_soon},
    {"testall", testall_mixed, die_soon},
    {"unsent", unsent, die_soon},
    {"unsent-stopped", unsent, stop_soon},
    {"persistent", persistent, die_soon},
    {"persistent-among-living", persistent_among_living, die_soon},
    {"cancel", cancel, die_soon},
    {"request-free", request_free, die_soon},
};

/* Survivors still reach each other, in both directions, small and large. */
static void check_the_living(void) {
  static const int counts[] = {1, 1000, 1 << 18};
  for (int round = 0; round < 30; ++round) {
    int count = counts[round % 3];
    int *out = malloc((size_t)count * sizeof *out), *in = malloc((size_t)count * sizeof *in);
    for (int i = 0; i < count; ++i) out[i] = rank * 7 + i + round;
    int to = round % 2 ? next_alive(rank) : previous_alive(rank);
    int from = round % 2 ? previous_alive(rank) : next_alive(rank);
    CHECK(MPI_Sendrecv(out, count, MPI_INT, to, check_tag, in, count, MPI_INT, from, check_tag,
                       comm, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    for (int i = 0; i < count; ++i) CHECK(in[i] == from * 7 + i + round);
    free(out);
    free(in);
  }
}

int main(int argc, char** argv) {
  const struct test_case* found = NULL;
  if (argc > 2) victim = atoi(argv[2]);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i)
    if (argc > 1 && strcmp(cases[i].name, argv[1]) == 0) found = &cases[i];
  if (found == NULL) {
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) puts(cases[i].name);
    return 2;
  }
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_size(comm, &size);
  int is_in_pair = rank == victim || is_first_alive();
  MPI_Comm_split(comm, is_in_pair ? 0 : MPI_UNDEFINED, rank, &pair);
  if (rank != victim) check_the_living();
  MPI_Barrier(comm);
  if (rank == victim) found->fall();
  found->survive();
  check_the_living();
  MPI_Finalize();
  printf("rank %d is through\n", rank);
  return 0;
}
