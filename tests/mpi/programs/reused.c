/* Threads whose requests get the handles that those of other threads have just had.
 *
 *   reused lost|derived|revoked|broken      the second and third with --on-loss error
 *
 * On each rank but the last one some threads send to themselves without end, and complete that in
 * all ways; others start what only the last rank could answer, which it never does. When all of
 * that is started the last rank dies. With `derived` this is on a communicator that was made after
 * rank 1 has died, and with `revoked` the last rank revokes that instead of dying; so it does with
 * `broken`, where nobody dies. Nothing may be forgotten that still waits for the last rank: each
 * thread comes to its end, and hears of an error for all that it waits for.
 *
 * What MPI has completed is given back late: here the calls of MPI that others than the program
 * make are wrapped, so that meanwhile another thread may get its handle.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <resprout/resprout.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { senders = 2, waiters = 2, pending = 60, tag_of_waiters = 100, tag_of_end = 99 };
enum { late_us = 200, between_us = 100 };

static int rank, last, world_rank, world_size;
static MPI_Comm comm = MPI_COMM_WORLD;
static atomic_int is_over;
static _Thread_local int is_late;

static void check(int is_right, const char* what) {
  if (is_right) return;
  fprintf(stderr, "WRONG: rank %d: %s\n", world_rank, what);
  fflush(stderr);
  _exit(1);
}

static int given_late(int code) {
  if (is_late) usleep(late_us);
  return code;
}

#define LATE(name, parameters, arguments)                      \
  int PMPI_##name parameters {                                 \
    static int(*mpi) parameters;                               \
    if (!mpi) *(void**)&mpi = dlsym(RTLD_NEXT, "PMPI_" #name); \
    return given_late(mpi arguments);                          \
  }
LATE(Test, (MPI_Request * request, int* flag, MPI_Status* status), (request, flag, status))
LATE(Testany, (int count, MPI_Request* requests, int* index, int* flag, MPI_Status* status),
     (count, requests, index, flag, status))
LATE(Testsome,
     (int count, MPI_Request* requests, int* outcount, int* indices, MPI_Status* statuses),
     (count, requests, outcount, indices, statuses))
LATE(Wait, (MPI_Request * request, MPI_Status* status), (request, status))

/* Both are over afterwards, however they end: how they do. */
static int complete(int how, MPI_Request requests[2]) {
  int code = MPI_SUCCESS, end, flag, count = 0, index, indices[2];
  MPI_Status statuses[2];
  if (how == 0) return MPI_Waitall(2, requests, statuses);
  while (requests[0] != MPI_REQUEST_NULL || requests[1] != MPI_REQUEST_NULL) {
    if (how == 1) {
      end = MPI_Test(&requests[requests[0] == MPI_REQUEST_NULL], &flag, MPI_STATUS_IGNORE);
    } else if (how == 2) {
      end = MPI_Testany(2, requests, &index, &flag, MPI_STATUS_IGNORE);
    } else {
      end = MPI_Testsome(2, requests, &count, indices, statuses);
    }
    if (code == MPI_SUCCESS) code = end;
  }
  return code;
}

/* Until nothing waits any more, or nothing can be sent. */
static void* send_to_oneself(void* number) {
  int tag = *(int*)number, code = MPI_SUCCESS;
  is_late = 1;
  for (int round = 0; code == MPI_SUCCESS && !is_over; ++round) {
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    int out = round, in = -1;
    if (round % 5 == 4) {
      code = MPI_Isendrecv(&out, 1, MPI_INT, rank, tag, &in, 1, MPI_INT, rank, tag, comm, requests);
    } else {
      code = MPI_Irecv(&in, 1, MPI_INT, rank, tag, comm, &requests[0]);
      if (code != MPI_SUCCESS) break;
      code = MPI_Issend(&out, 1, MPI_INT, rank, tag, comm, &requests[1]);
    }
    int end = complete(round % 4, requests);
    if (code == MPI_SUCCESS) code = end;
    if (code == MPI_SUCCESS) check(in == round, "a message to oneself");
  }
  return NULL;
}

typedef struct {
  int number;
  int numbers[pending];
  MPI_Request requests[pending];
} Waiter;

static void* start_waiting(void* of) {
  Waiter* me = of;
  for (int i = 0; i < pending; ++i) {
    int* number = &me->numbers[i];
    int code = i % 2 ? MPI_Irecv(number, 1, MPI_INT, last, tag_of_waiters, comm, &me->requests[i])
                     : MPI_Issend(number, 1, MPI_INT, last, tag_of_waiters, comm, &me->requests[i]);
    check(code == MPI_SUCCESS, "it is started");
    usleep(between_us);
  }
  return NULL;
}

/* One look at each, again and again: it takes a moment until MPI is believed that there is nothing.
 */
static void* end_waiting(void* of) {
  Waiter* me = of;
  for (int left = pending; left > 0;) {
    for (int i = 0; i < pending; ++i) {
      int flag = 0, code;
      if (me->requests[i] == MPI_REQUEST_NULL) continue;
      code = MPI_Test(&me->requests[i], &flag, MPI_STATUS_IGNORE);
      check(!flag || code != MPI_SUCCESS, "nobody has answered");
      if (me->requests[i] == MPI_REQUEST_NULL) --left;
    }
  }
  return NULL;
}

static void be_threads(void) {
  static Waiter of[waiters];
  pthread_t sending[senders], waiting[waiters];
  int tags[senders], nothing = 0;
  for (int i = 0; i < senders; ++i) {
    tags[i] = i;
    pthread_create(&sending[i], NULL, send_to_oneself, &tags[i]);
  }
  for (int i = 0; i < waiters; ++i) pthread_create(&waiting[i], NULL, start_waiting, &of[i]);
  for (int i = 0; i < waiters; ++i) pthread_join(waiting[i], NULL);
  MPI_Send(&nothing, 1, MPI_INT, last, tag_of_end, comm);
  for (int i = 0; i < waiters; ++i) pthread_create(&waiting[i], NULL, end_waiting, &of[i]);
  for (int i = 0; i < waiters; ++i) pthread_join(waiting[i], NULL);
  is_over = 1;
  for (int i = 0; i < senders; ++i) pthread_join(sending[i], NULL);
}

/* In MPI_Finalize messages may still be received: not before all are through. */
static void be_the_last(int is_revoking) {
  int nothing;
  for (int r = 0; r < last; ++r)
    MPI_Recv(&nothing, 1, MPI_INT, r, tag_of_end, comm, MPI_STATUS_IGNORE);
  if (!is_revoking) kill(getpid(), SIGKILL);
  MPIX_Comm_revoke(comm);
  for (int r = 0; r < world_rank; ++r)
    MPI_Recv(&nothing, 1, MPI_INT, r, tag_of_end, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void remake(void) {
  if (world_rank == 1) kill(getpid(), SIGKILL);
  while (MPI_Barrier(MPI_COMM_WORLD) == MPI_SUCCESS) continue;
  check(MPIX_Comm_shrink(MPI_COMM_WORLD, &comm) == MPI_SUCCESS, "it is made");
}

int main(int argc, char** argv) {
  int provided;
  if (argc < 2) return 2;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_size);
  check(provided == MPI_THREAD_MULTIPLE, "threads");
  MPI_Barrier(MPI_COMM_WORLD);
  int is_broken = strcmp(argv[1], "broken") == 0, is_revoked = strcmp(argv[1], "revoked") == 0;
  if (is_revoked || strcmp(argv[1], "derived") == 0) remake();
  if (is_broken) MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &last);
  --last;
  if (rank == last) {
    be_the_last(is_revoked || is_broken);
  } else {
    be_threads();
    if (is_revoked || is_broken)
      MPI_Send(&world_rank, 1, MPI_INT, world_size - 1, tag_of_end, MPI_COMM_WORLD);
  }
  printf("rank %d is through\n", world_rank);
  MPI_Finalize();
  return 0;
}
