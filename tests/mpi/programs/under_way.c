/* Collectives under way, in what is easily wrong about them.
 *
 *   under_way many|needed|elsewhere|threads|persistent|freed|mistakes|lost
 *   under_way alone FILE
 *
 * many        hundreds at once on two communicators, together with messages, in any order
 * needed      a rank waits for a message whose sender waits for that rank's part in a sum
 * elsewhere   the same, and it is in a collective of another communicator
 * threads     several threads start and complete some at once, each on its own communicator
 * alone       all but one rank ask nothing until that one is through (it makes FILE)
 * persistent  requests that are started again and again, alone and together
 * freed       datatypes, operators and communicators are freed while they are needed
 * mistakes    arguments that are not valid give the errors that MPI has for them
 * lost        for RESPROUT_ON_LOSS=error: rank 1 dies, and every collective ends with the loss
 */
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHECK(condition)                                                            \
  do {                                                                              \
    if (!(condition)) {                                                             \
      fprintf(stderr, "WRONG: rank %d, line %d: %s\n", rank, __LINE__, #condition); \
      fflush(stderr);                                                               \
      _exit(1);                                                                     \
    }                                                                               \
  } while (0)

enum { ranks_max = 16, many = 300, large = 200000, threads = 8, rounds_of_thread = 400 };
static int rank, size;

static int class_of(int code) {
  int class;
  MPI_Error_class(code, &class);
  return class;
}

static void add(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *count; ++i) ((int*)inout)[i] += ((int*)in)[i];
}

static void be_many(void) {
  static MPI_Request requests[3 * many + 2];
  static int numbers[many], sums[many], messages[2];
  MPI_Comm comms[2] = {MPI_COMM_WORLD, MPI_COMM_NULL};
  MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]);
  int next = (rank + 1) % size, before = (rank + size - 1) % size, count = 0, index, all = 0;
  MPI_Irecv(&messages[0], 1, MPI_INT, before, 5, MPI_COMM_WORLD, &requests[count++]);
  for (int i = 0; i < many; ++i) {
    /* Each rank starts those of the two communicators in its own order. */
    for (int k = 0; k < 2; ++k) {
      int which = (k + rank + i) % 2;
      if (which == 0) {
        numbers[i] = rank == i % size ? i : -1;
        MPI_Ibcast(&numbers[i], 1, MPI_INT, i % size, comms[0], &requests[count++]);
      } else {
        sums[i] = rank + i;
        MPI_Iallreduce(MPI_IN_PLACE, &sums[i], 1, MPI_INT, MPI_SUM, comms[1], &requests[count++]);
      }
    }
    if (i % 10 == rank % 10) MPI_Ibarrier(MPI_COMM_SELF, &requests[count++]);
    if (i % 50 == 25) MPI_Ibarrier(comms[i / 50 % 2], &requests[count++]);
  }
  messages[1] = rank;
  MPI_Isend(&messages[1], 1, MPI_INT, next, 5, MPI_COMM_WORLD, &requests[count++]);
  for (int i = 0; i < 5; ++i) { /* some one by one, the rest at once */
    CHECK(MPI_Waitany(count, requests, &index, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    CHECK(index != MPI_UNDEFINED && requests[index] == MPI_REQUEST_NULL);
  }
  CHECK(MPI_Waitall(count, requests, MPI_STATUSES_IGNORE) == MPI_SUCCESS);
  CHECK(messages[0] == before);
  for (int i = 0; i < many; ++i)
    CHECK(numbers[i] == i && sums[i] == size * (size - 1) / 2 + size * i);
  CHECK(MPI_Allreduce(&rank, &all, 1, MPI_INT, MPI_MAX, comms[1]) == MPI_SUCCESS);
  CHECK(all == size - 1);
  MPI_Comm_free(&comms[1]);
}

/* Rank 0's own operator is needed for the sum, and rank 0 is inside of a call that waits. */
static void be_needed(void) {
  static int in[large], out[large];
  MPI_Op op;
  MPI_Op_create(add, 0, &op);
  for (int how = 0; how < 6; ++how) {
    MPI_Request request;
    for (int i = 0; i < large; ++i) in[i] = rank + i;
    int count = how % 2 ? large : 1, message = -1;
    MPI_Iallreduce(in, out, count, MPI_INT, op, MPI_COMM_WORLD, &request);
    if (rank > 0) {
      CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
      if (rank == size - 1) {
        if (how / 2 == 2)
          MPI_Recv(&message, 1, MPI_INT, 0, how, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        else
          MPI_Send(&how, 1, MPI_INT, 0, how, MPI_COMM_WORLD);
      }
    } else {
      if (how / 2 == 0) {
        MPI_Recv(&message, 1, MPI_INT, size - 1, how, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      } else if (how / 2 == 1) {
        MPI_Probe(MPI_ANY_SOURCE, how, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(&message, 1, MPI_INT, size - 1, how, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      } else {
        MPI_Ssend(&how, 1, MPI_INT, size - 1, how, MPI_COMM_WORLD);
        message = how;
      }
      CHECK(message == how);
      CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    }
    for (int i = 0; i < count; ++i) CHECK(out[i] == size * (size - 1) / 2 + size * i);
  }
  MPI_Op_free(&op);
}

/* The same, and rank 0 is inside of a collective of another communicator, whose root waits for the
 * sum first; small and large, and often, so that the MPI library may carry it. */
static void be_needed_elsewhere(void) {
  static int in[large], out[large];
  MPI_Comm elsewhere;
  MPI_Op op;
  MPI_Op_create(add, 0, &op);
  MPI_Comm_dup(MPI_COMM_WORLD, &elsewhere);
  for (int round = 0; round < 40; ++round) {
    MPI_Request request;
    int count = round % 2 ? large : 1;
    for (int i = 0; i < count; ++i) in[i] = rank == size - 1 ? round : -1;
    int mine = rank + round, sum = -1;
    MPI_Iallreduce(&mine, &sum, 1, MPI_INT, op, MPI_COMM_WORLD, &request);
    if (rank > 0) CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    CHECK(MPI_Bcast(in, count, MPI_INT, size - 1, elsewhere) == MPI_SUCCESS);
    CHECK(MPI_Allreduce(in, out, count, MPI_INT, MPI_MAX, elsewhere) == MPI_SUCCESS);
    if (rank == 0) CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    CHECK(sum == size * (size - 1) / 2 + size * round);
    for (int i = 0; i < count; ++i) CHECK(in[i] == round && out[i] == round);
  }
  MPI_Comm_free(&elsewhere);
  MPI_Op_free(&op);
}

typedef struct {
  MPI_Comm comm;
  int number;
} Thread;

/* As soon as one thread has completed a request, MPI gives its handle to another one. Each second
 * collective ends with an error, so that no thread can take another's end for its own. */
static void* be_one_thread(void* of) {
  Thread* me = of;
  for (int round = 0; round < rounds_of_thread; ++round) {
    MPI_Request request;
    int is_wrong = (round + me->number) % 2, flag = 0, code = MPI_SUCCESS;
    int mine[2] = {rank + round, -1}, all[ranks_max];
    MPI_Iallgather(mine, 1 + is_wrong, MPI_INT, all, 1, MPI_INT, me->comm, &request);
    if (round % 3 == 0) code = MPI_Wait(&request, MPI_STATUS_IGNORE);
    while (round % 3 != 0 && !flag) code = MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    CHECK(class_of(code) == (is_wrong ? MPI_ERR_TRUNCATE : MPI_SUCCESS));
    for (int r = 0; r < size && !is_wrong; ++r) CHECK(all[r] == r + round);
  }
  return NULL;
}

static void be_threads(void) {
  pthread_t ids[threads];
  Thread of[threads];
  for (int i = 0; i < threads; ++i) {
    MPI_Comm_dup(MPI_COMM_WORLD, &of[i].comm);
    MPI_Comm_set_errhandler(of[i].comm, MPI_ERRORS_RETURN);
    of[i].number = i;
  }
  for (int i = 0; i < threads; ++i) pthread_create(&ids[i], NULL, be_one_thread, &of[i]);
  for (int i = 0; i < threads; ++i) pthread_join(ids[i], NULL);
  for (int i = 0; i < threads; ++i) MPI_Comm_free(&of[i].comm);
}

/* What needs no operator goes on while nobody of the program is in MPI. */
static void be_alone(const char* path) {
  MPI_Request requests[5];
  int all[ranks_max], each[ranks_max], number = rank == size - 1 ? 77 : 0;
  for (int r = 0; r < size; ++r) each[r] = 10 * rank + r;
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Ibarrier(MPI_COMM_WORLD, &requests[0]);
  MPI_Iallgather(&rank, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD, &requests[1]);
  MPI_Ibcast(&number, 1, MPI_INT, size - 1, MPI_COMM_WORLD, &requests[2]);
  MPI_Ialltoall(MPI_IN_PLACE, 1, MPI_INT, each, 1, MPI_INT, MPI_COMM_WORLD, &requests[3]);
  MPI_Ibarrier(MPI_COMM_WORLD, &requests[4]);
  if (rank == 0) {
    CHECK(MPI_Waitall(5, requests, MPI_STATUSES_IGNORE) == MPI_SUCCESS);
    CHECK(open(path, O_CREAT | O_WRONLY, 0666) >= 0);
  } else {
    while (access(path, F_OK) != 0) usleep(1000);
    CHECK(MPI_Waitall(5, requests, MPI_STATUSES_IGNORE) == MPI_SUCCESS);
  }
  CHECK(number == 77);
  for (int r = 0; r < size; ++r) CHECK(all[r] == r && each[r] == 10 * r + rank);
}

static void persist(void) {
  MPI_Request requests[4], handles[4];
  int number = 0, sum = 0, mine = 0, all[ranks_max], flag;
  CHECK(MPI_Bcast_init(&number, 1, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]) ==
        MPI_SUCCESS);
  MPI_Allreduce_init(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
  MPI_Allgather_init(&mine, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL,
                     &requests[2]);
  MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &requests[3]);
  memcpy(handles, requests, sizeof handles);
  CHECK(MPI_Waitall(4, requests, MPI_STATUSES_IGNORE) == MPI_SUCCESS); /* inactive */
  for (int round = 1; round <= 50; ++round) {
    number = rank == 0 ? round : 0;
    mine = rank * round;
    if (round % 2)
      CHECK(MPI_Startall(4, requests) == MPI_SUCCESS);
    else
      for (int i = 0; i < 4; ++i) CHECK(MPI_Start(&requests[i]) == MPI_SUCCESS);
    for (int i = 0; round % 3 == 0 && i < 4; ++i) {
      for (flag = 0; !flag;) MPI_Test(&requests[(i + rank) % 4], &flag, MPI_STATUS_IGNORE);
    }
    CHECK(MPI_Waitall(4, requests, MPI_STATUSES_IGNORE) == MPI_SUCCESS);
    CHECK(memcmp(handles, requests, sizeof handles) == 0);
    CHECK(number == round && sum == round * size * (size - 1) / 2);
    for (int r = 0; r < size; ++r) CHECK(all[r] == r * round);
  }
  for (int i = 0; i < 4; ++i)
    CHECK(MPI_Request_free(&requests[i]) == MPI_SUCCESS && requests[i] == MPI_REQUEST_NULL);
}

/* What is between the elements stays as it was. */
static void free_early(void) {
  for (int round = 0; round < 20; ++round) {
    MPI_Request requests[3];
    MPI_Datatype gappy;
    MPI_Op op;
    MPI_Comm comm;
    int in[6], out[6], numbers[6];
    for (int i = 0; i < 6; ++i) {
      in[i] = rank + i;
      out[i] = -1;
      numbers[i] = rank == 0 ? i : -1;
    }
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Type_vector(3, 1, 2, MPI_INT, &gappy);
    MPI_Type_commit(&gappy);
    MPI_Op_create(add, 1, &op);
    MPI_Ibcast(numbers, 1, gappy, 0, comm, &requests[0]);
    MPI_Iallreduce(in, out, 3, MPI_INT, op, comm, &requests[1]);
    MPI_Ibarrier(comm, &requests[2]);
    CHECK(MPI_Type_free(&gappy) == MPI_SUCCESS && gappy == MPI_DATATYPE_NULL);
    CHECK(MPI_Op_free(&op) == MPI_SUCCESS && op == MPI_OP_NULL);
    if (round % 2) CHECK(MPI_Comm_free(&comm) == MPI_SUCCESS && comm == MPI_COMM_NULL);
    CHECK(MPI_Waitall(3, requests, MPI_STATUSES_IGNORE) == MPI_SUCCESS);
    for (int i = 0; i < 6; ++i) {
      CHECK(out[i] == (i < 3 ? size * (size - 1) / 2 + size * i : -1));
      CHECK(numbers[i] == (rank == 0 || i % 2 == 0 ? i : -1));
    }
    if (round % 2 == 0) MPI_Comm_free(&comm);
  }
}

/* A mistake, and the one that MPI makes of it. */
#define MISTAKE(name, ...)                                        \
  do {                                                            \
    MPI_Request request;                                          \
    int class = class_of(MPI_##name(__VA_ARGS__, &request));      \
    CHECK(class != MPI_SUCCESS);                                  \
    CHECK(class == class_of(PMPI_##name(__VA_ARGS__, &request))); \
  } while (0)

static void make_mistakes(void) {
  MPI_Comm c = MPI_COMM_WORLD;
  MPI_Datatype t = MPI_INT;
  MPI_Request request;
  int out[ranks_max] = {0}, in[ranks_max], all = 0;
  MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN);
  MISTAKE(Ibcast, out, -1, t, 0, c);
  MISTAKE(Ibcast, out, 1, t, size, c);
  MISTAKE(Iallreduce, out, in, 1, t, MPI_OP_NULL, c);
  MISTAKE(Ireduce, out, in, 1, t, MPI_SUM, -7, c);
  MISTAKE(Igather, out, 1, t, in, 1, t, -7, c);
  MISTAKE(Iscatter, out, 1, t, in, 1, t, size, c);
  MISTAKE(Iallgather, out, -1, t, in, 1, t, c);
  MISTAKE(Ialltoall, out, 1, t, in, -1, t, c);
  MISTAKE(Iscan, out, in, -1, t, MPI_SUM, c);
  MISTAKE(Ireduce_scatter_block, out, in, -1, t, MPI_SUM, c);
  MISTAKE(Bcast_init, out, 1, t, size, c, MPI_INFO_NULL);
  /* More comes than there is room for: whoever waits is told. */
  CHECK(MPI_Iallgather(out, 2, t, in, 1, t, c, &request) == MPI_SUCCESS);
  CHECK(class_of(MPI_Wait(&request, MPI_STATUS_IGNORE)) == MPI_ERR_TRUNCATE);
  /* One that cannot be over yet is no request to be cancelled. */
  if (rank != 0) MPI_Recv(NULL, 0, t, 0, 3, c, MPI_STATUS_IGNORE);
  MPI_Ibarrier(c, &request);
  if (rank == 0) CHECK(class_of(MPI_Cancel(&request)) == MPI_ERR_REQUEST);
  for (int r = 1; rank == 0 && r < size; ++r) MPI_Send(NULL, 0, t, r, 3, c);
  CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
  CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS); /* of nothing */
  CHECK(MPI_Allreduce(&rank, &all, 1, t, MPI_MAX, c) == MPI_SUCCESS && all == size - 1);
}

static int is_failed(int code) {
  char text[MPI_MAX_ERROR_STRING];
  int length;
  MPI_Error_string(code, text, &length);
  return code != MPI_SUCCESS && strstr(text, "PROC_FAILED");
}

static void lose(void) {
  MPI_Request requests[3];
  MPI_Status statuses[3];
  int out = 1, in = 0;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1) kill(getpid(), SIGKILL);
  MPI_Ibarrier(MPI_COMM_WORLD, &requests[0]);
  CHECK(is_failed(MPI_Wait(&requests[0], MPI_STATUS_IGNORE))); /* from here on all know it */
  CHECK(requests[0] == MPI_REQUEST_NULL);
  MPI_Iallreduce(&out, &in, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[0]);
  MPI_Ibarrier(MPI_COMM_SELF, &requests[1]);
  MPI_Ibcast(&out, 1, MPI_INT, 0, MPI_COMM_WORLD, &requests[2]);
  CHECK(MPI_Waitall(3, requests, statuses) == MPI_ERR_IN_STATUS);
  CHECK(is_failed(statuses[0].MPI_ERROR) && is_failed(statuses[2].MPI_ERROR));
  CHECK(statuses[1].MPI_ERROR == MPI_SUCCESS);
  CHECK(in == size - 1); /* it went on all the same */
}

int main(int argc, char** argv) {
  int provided;
  if (argc < 2) return 2;
  int is_threaded = strcmp(argv[1], "threads") == 0;
  MPI_Init_thread(&argc, &argv, is_threaded ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (strcmp(argv[1], "many") == 0) be_many();
  if (strcmp(argv[1], "needed") == 0) be_needed();
  if (strcmp(argv[1], "elsewhere") == 0) be_needed_elsewhere();
  if (is_threaded) be_threads();
  if (strcmp(argv[1], "alone") == 0) be_alone(argv[2]);
  if (strcmp(argv[1], "persistent") == 0) persist();
  if (strcmp(argv[1], "freed") == 0) free_early();
  if (strcmp(argv[1], "mistakes") == 0) make_mistakes();
  if (strcmp(argv[1], "lost") == 0) lose();
  if (rank == 0) printf("%s\n", argv[1]);
  MPI_Finalize();
  return 0;
}
