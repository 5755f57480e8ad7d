/* A communicator is revoked while its members wait in all kinds of calls on it: every one of them
 * ends with MPIX_ERR_REVOKED, and so does all that is called on it later. Other communicators go
 * on. Then the same on a communicator that was made without the MPI library.
 *
 *   revoke CALL [REVOKERS]     e.g. revoke recv, revoke allreduce 3
 *
 * The last rank (with REVOKERS: the last ones) revokes; it takes no part in CALL, so nobody can
 * leave that otherwise.
 */
#include <mpi.h>
#include <resprout/resprout.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { large = 1 << 20 };
static int rank, size, revoker;
static char *there, *here;
static MPI_Comm comm, other;

static void fail(const char* what, int code) {
  char text[MPI_MAX_ERROR_STRING] = "no error";
  int length;
  if (code != MPI_SUCCESS) MPI_Error_string(code, text, &length);
  fprintf(stderr, "WRONG: rank %d: %s: %d (%s)\n", rank, what, code, text);
  fflush(stderr);
  _exit(1);
}

static int is_revoked_error(int code) {
  int error_class = MPI_SUCCESS;
  MPI_Error_class(code, &error_class);
  return error_class == MPIX_ERR_REVOKED;
}

static void expect_revoked(const char* what, int code) {
  if (!is_revoked_error(code)) fail(what, code);
}

/* The calls that wait for one process; *is_known becomes 0 if `name` is none of them. */
static int wait_for_peer(const char* name, int* is_known) {
  MPI_Message message;
  *is_known = 1;
  if (strcmp(name, "recv") == 0)
    return MPI_Recv(here, 8, MPI_CHAR, revoker, 1, comm, MPI_STATUS_IGNORE);
  if (strcmp(name, "recv_any") == 0)
    return MPI_Recv(here, 8, MPI_CHAR, MPI_ANY_SOURCE, 1, comm, MPI_STATUS_IGNORE);
  if (strcmp(name, "ssend") == 0) return MPI_Ssend(there, 8, MPI_CHAR, revoker, 1, comm);
  if (strcmp(name, "send") == 0) return MPI_Send(there, large, MPI_CHAR, revoker, 1, comm);
  if (strcmp(name, "sendrecv") == 0)
    return MPI_Sendrecv(there, 8, MPI_CHAR, (rank + 1) % size, 1, here, 8, MPI_CHAR, revoker, 2,
                        comm, MPI_STATUS_IGNORE);
  if (strcmp(name, "probe") == 0) return MPI_Probe(revoker, 1, comm, MPI_STATUS_IGNORE);
  if (strcmp(name, "mprobe") == 0)
    return MPI_Mprobe(MPI_ANY_SOURCE, 1, comm, &message, MPI_STATUS_IGNORE);
  *is_known = 0;
  return MPI_SUCCESS;
}

/* How the first of `count` requests has ended that has; others may be pending still. */
static int first_of(int code, const MPI_Status* statuses, int count) {
  for (int i = 0; code == MPI_ERR_IN_STATUS && i < count; ++i)
    if (statuses[i].MPI_ERROR != MPI_ERR_PENDING) return statuses[i].MPI_ERROR;
  return code;
}

/* Two sends that nobody receives, and every call that may end them: a synchronous one of a few
 * bytes, and a large one. */
static int wait_for_sends(const char* name, MPI_Request requests[2]) {
  MPI_Status statuses[2];
  int code, count = 0, flag = 0, index = 0, indices[2];
  const int is_persistent = strncmp(name, "start", 5) == 0;
  if (is_persistent) {
    MPI_Ssend_init(there, 8, MPI_CHAR, revoker, 1, comm, requests);
    MPI_Send_init(there, large, MPI_CHAR, revoker, 2, comm, requests + 1);
    MPI_Startall(2, requests);
  } else {
    MPI_Issend(there, 8, MPI_CHAR, revoker, 1, comm, requests);
    MPI_Isend(there, large, MPI_CHAR, revoker, 2, comm, requests + 1);
  }
  const char* call = strchr(name, '_') + 1;
  if (strcmp(call, "waitall") == 0) {
    code = first_of(MPI_Waitall(2, requests, statuses), statuses, 2);
  } else if (strcmp(call, "waitany") == 0) {
    code = MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
  } else if (strcmp(call, "waitsome") == 0) {
    code = first_of(MPI_Waitsome(2, requests, &count, indices, statuses), statuses, 1);
  } else if (strcmp(call, "testall") == 0) {
    do code = first_of(MPI_Testall(2, requests, &flag, statuses), statuses, 2);
    while (code == MPI_SUCCESS && flag == 0);
  } else if (strcmp(call, "testany") == 0) {
    do code = MPI_Testany(2, requests, &index, &flag, MPI_STATUS_IGNORE);
    while (code == MPI_SUCCESS && flag == 0);
  } else if (strcmp(call, "testsome") == 0) {
    do code = first_of(MPI_Testsome(2, requests, &count, indices, statuses), statuses, 1);
    while (code == MPI_SUCCESS && count == 0);
  } else {
    code = MPI_Wait(requests, MPI_STATUS_IGNORE);
  }
  /* What the call has left open ends so, too; what it has ended is nothing to wait for. */
  for (int i = 0; i < 2; ++i) {
    if (requests[i] == MPI_REQUEST_NULL) continue;
    const int end = MPI_Wait(requests + i, MPI_STATUS_IGNORE);
    if (end != MPI_SUCCESS || !is_persistent) expect_revoked("the other send", end);
    if (is_persistent) MPI_Request_free(requests + i);
  }
  return code;
}

/* The same for requests. */
static int wait_for_request(const char* name, int* is_known) {
  MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  MPI_Status statuses[2];
  int code, flag = 0, index;
  *is_known = 1;
  if (strncmp(name, "sends_", 6) == 0 || strncmp(name, "starts_", 7) == 0)
    return wait_for_sends(name, requests);
  if (strcmp(name, "isend") == 0) {
    MPI_Isend(there, large, MPI_CHAR, revoker, 1, comm, requests);
    return MPI_Wait(requests, MPI_STATUS_IGNORE);
  }
  if (strcmp(name, "start") == 0) {
    MPI_Recv_init(here, 8, MPI_CHAR, revoker, 1, comm, requests);
    MPI_Start(requests);
    return MPI_Wait(requests, MPI_STATUS_IGNORE);
  }
  MPI_Irecv(here, 8, MPI_CHAR, revoker, 1, comm, requests);
  if (strcmp(name, "wait") == 0) return MPI_Wait(requests, MPI_STATUS_IGNORE);
  if (strcmp(name, "waitany") == 0) return MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
  if (strcmp(name, "test") == 0) {
    do code = MPI_Test(requests, &flag, MPI_STATUS_IGNORE);
    while (code == MPI_SUCCESS && flag == 0);
    return code;
  }
  if (strcmp(name, "waitall") == 0)
    MPI_Irecv(here + 8, 8, MPI_CHAR, (rank + size - 1) % size, 2, comm, requests + 1);
  else if (strcmp(name, "ibarrier") == 0)
    MPI_Ibarrier(comm, requests + 1);
  else
    *is_known = 0;
  if (!*is_known) {
    MPI_Cancel(requests);
    return MPI_Wait(requests, MPI_STATUS_IGNORE);
  }
  return first_of(MPI_Waitall(2, requests, statuses), statuses, 2);
}

static int make_window(MPI_Comm on) {
  MPI_Win window;
  return MPI_Win_create(there, 8, 1, MPI_INFO_NULL, on, &window);
}

static int wait_for_all(const char* name) {
  MPI_Request request = MPI_REQUEST_NULL;
  if (strcmp(name, "barrier") == 0) return MPI_Barrier(comm);
  if (strcmp(name, "bcast") == 0) return MPI_Bcast(here, 8, MPI_CHAR, revoker, comm);
  if (strcmp(name, "bcast_large") == 0) return MPI_Bcast(here, large, MPI_CHAR, revoker, comm);
  if (strcmp(name, "reduce") == 0) { /* only its root has to wait in it */
    int code = MPI_Reduce(there, here, 8, MPI_CHAR, MPI_MAX, 0, comm);
    return rank == 0 || code != MPI_SUCCESS ? code : MPI_Barrier(comm);
  }
  if (strcmp(name, "allreduce") == 0) return MPI_Allreduce(there, here, 1, MPI_LONG, MPI_SUM, comm);
  if (strcmp(name, "allreduce_large") == 0)
    return MPI_Allreduce(there, here, large, MPI_CHAR, MPI_MAX, comm);
  if (strcmp(name, "alltoall") == 0)
    return MPI_Alltoall(there, 64, MPI_CHAR, here, 64, MPI_CHAR, comm);
  if (strcmp(name, "alltoall_large") == 0)
    return MPI_Alltoall(there, large / 4, MPI_CHAR, here, large / 4, MPI_CHAR, comm);
  if (strcmp(name, "scan") == 0) { /* nobody waits for the last rank in it */
    int code = MPI_Scan(there, here, 1, MPI_LONG, MPI_SUM, comm);
    return code != MPI_SUCCESS ? code : MPI_Barrier(comm);
  }
  if (strcmp(name, "scan_large") == 0)
    return MPI_Scan(there, here, large / 8, MPI_LONG, MPI_SUM, comm);
  if (strcmp(name, "allgather") == 0)
    return MPI_Allgather(there, 64, MPI_CHAR, here, 64, MPI_CHAR, comm);
  if (strcmp(name, "iallreduce") == 0) {
    MPI_Iallreduce(there, here, 1, MPI_LONG, MPI_SUM, comm, &request);
    return MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  if (strcmp(name, "create_group") == 0) {
    MPI_Group everybody;
    MPI_Comm made;
    MPI_Comm_group(comm, &everybody);
    int code = MPI_Comm_create_group(comm, everybody, 7, &made);
    MPI_Group_free(&everybody);
    return code;
  }
  if (strcmp(name, "win_create") == 0) return make_window(comm);
  fprintf(stderr, "unknown: %s\n", name);
  _exit(2);
}

static int call_and_wait(const char* name) {
  int is_known, code = wait_for_peer(name, &is_known);
  if (!is_known) code = wait_for_request(name, &is_known);
  return is_known ? code : wait_for_all(name);
}

/* MPI itself would not live through these. */
static void check_windows_and_files(MPI_Comm on) {
  char* memory;
  MPI_Win window;
  MPI_File file;
  expect_revoked("win_create", make_window(on));
  expect_revoked("win_allocate",
                 MPI_Win_allocate(8, 1, MPI_INFO_NULL, on, (void*)&memory, &window));
  expect_revoked("win_allocate_shared",
                 MPI_Win_allocate_shared(8, 1, MPI_INFO_NULL, on, (void*)&memory, &window));
  expect_revoked("win_create_dynamic", MPI_Win_create_dynamic(MPI_INFO_NULL, on, &window));
  expect_revoked("file_open",
                 MPI_File_open(on, "/dev/null", MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
}

/* Nobody else is in it to be told. */
static void check_alone(void) {
  MPI_Comm alone;
  MPI_Comm_split(MPI_COMM_WORLD, rank, 0, &alone);
  MPIX_Comm_revoke(alone);
  check_windows_and_files(alone);
  MPI_Comm_free(&alone);
}

/* Everything that is started on it now ends at once. */
static void check_all_is_over(void) {
  int flag = 0, next = (rank + 1) % size;
  MPI_Request request = MPI_REQUEST_NULL;
  MPIX_Comm_is_revoked(comm, &flag);
  if (!flag) fail("is_revoked", MPI_SUCCESS);
  expect_revoked("send", MPI_Send(there, 8, MPI_CHAR, next, 1, comm));
  expect_revoked("recv", MPI_Recv(here, 8, MPI_CHAR, next, 1, comm, MPI_STATUS_IGNORE));
  expect_revoked("probe", MPI_Probe(MPI_ANY_SOURCE, 1, comm, MPI_STATUS_IGNORE));
  expect_revoked("barrier", MPI_Barrier(comm));
  expect_revoked("bcast", MPI_Bcast(here, 8, MPI_CHAR, 0, comm));
  expect_revoked("allreduce", MPI_Allreduce(there, here, 1, MPI_LONG, MPI_SUM, comm));
  expect_revoked("gather", MPI_Gather(there, 8, MPI_CHAR, here, 8, MPI_CHAR, 0, comm));
  expect_revoked("scan", MPI_Scan(there, here, 1, MPI_LONG, MPI_SUM, comm));
  int code = MPI_Isend(there, 8, MPI_CHAR, next, 1, comm, &request);
  if (code == MPI_SUCCESS) code = MPI_Wait(&request, MPI_STATUS_IGNORE);
  expect_revoked("isend", code);
  code = MPI_Iallreduce(there, here, 1, MPI_LONG, MPI_SUM, comm, &request);
  if (code == MPI_SUCCESS) code = MPI_Wait(&request, MPI_STATUS_IGNORE);
  expect_revoked("iallreduce", code);
  check_windows_and_files(comm);
}

static void check_goes_on(MPI_Comm on) {
  int flag = 1, sum = 0, one = 1, from = -1, members, self;
  MPI_Comm_size(on, &members);
  MPI_Comm_rank(on, &self);
  MPIX_Comm_is_revoked(on, &flag);
  if (flag) fail("is_revoked of another one", MPI_SUCCESS);
  int code = MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, on);
  if (code != MPI_SUCCESS || sum != members) fail("allreduce elsewhere", code);
  code = MPI_Sendrecv(&self, 1, MPI_INT, (self + 1) % members, 3, &from, 1, MPI_INT,
                      (self + members - 1) % members, 3, on, MPI_STATUS_IGNORE);
  if (code != MPI_SUCCESS || from != (self + members - 1) % members) fail("ring elsewhere", code);
}

static int count_deletion(MPI_Comm of, int key, void* value, void* extra) {
  ++*(int*)value;
  return of == MPI_COMM_NULL || key == MPI_KEYVAL_INVALID || extra != NULL;
}

/* Messages may still be on their way in `comm`: no later one gets its number. */
static void free_revoked(void) {
  int key, deletions = 0;
  MPI_Comm next;
  const MPI_Fint number = MPI_Comm_c2f(comm);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, count_deletion, &key, NULL);
  MPI_Comm_set_attr(comm, key, &deletions);
  int code = MPI_Comm_free(&comm);
  if (code != MPI_SUCCESS || comm != MPI_COMM_NULL || deletions != 1) fail("free", code);
  MPI_Comm_free_keyval(&key);
  MPI_Comm_dup(MPI_COMM_WORLD, &next);
  if (MPI_Comm_c2f(next) == number) fail("its number is used again", MPI_SUCCESS);
  check_goes_on(next);
  MPI_Comm_free(&next);
}

/* `comm` is revoked; what does go on it. The new one is made without the MPI library. */
static MPI_Comm repair(void) {
  int flag = rank == 0 ? 3 : 7;
  int code = MPIX_Comm_agree(comm, &flag);
  if (code != MPI_SUCCESS || flag != 3) fail("agree", code);
  MPI_Comm whole;
  MPI_Error_class(MPIX_Comm_shrink(comm, NULL), &code);
  if (code != MPI_ERR_ARG) fail("shrink into nothing", code);
  code = MPIX_Comm_shrink(comm, &whole);
  if (code != MPI_SUCCESS) fail("shrink", code);
  check_goes_on(whole);
  free_revoked();
  return whole;
}

static void play(const char* call, int revokers) {
  check_goes_on(comm);
  MPI_Barrier(other); /* nobody revokes before all are through with that */
  if (rank < size - revokers) {
    expect_revoked(call, call_and_wait(call));
  } else {
    nanosleep(&(struct timespec){0, 30000000}, NULL); /* the others are in it by now, mostly */
    if (MPIX_Comm_revoke(comm) != MPI_SUCCESS) fail("revoke", MPI_SUCCESS);
  }
  check_all_is_over();
  check_goes_on(other);
}

int main(int argc, char** argv) {
  int revokers = argc > 2 ? atoi(argv[2]) : 1;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  there = calloc(large, 2);
  here = calloc(large, 2);
  revoker = size - 1;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_dup(MPI_COMM_WORLD, &other);
  play(argv[1], revokers);
  MPI_Comm whole = repair();
  MPI_Comm_dup(whole, &comm); /* its identifier may be used again */
  play(argv[1], revokers);
  MPI_Comm_free(&whole);
  whole = repair();
  MPI_Comm_free(&whole);
  MPI_Comm_free(&other);
  check_alone();
  if (rank == 0) printf("all is over\n");
  free(there);
  free(here);
  MPI_Finalize();
  return 0;
}
