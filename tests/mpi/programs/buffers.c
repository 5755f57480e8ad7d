/* When a call has returned, with whatever error, its buffer is the program's again.
 *
 *   buffers SEED ROUNDS [VICTIMS]
 *
 * In each round all ranks send to and receive from each other, in all forms and sizes, half of it
 * for nobody. One rank revokes the communicator meanwhile, or dies, and the next round goes on with
 * what MPIX_Comm_shrink makes of it. As soon as a request is over its buffer is made unreadable and
 * unwritable for good: who touches it later, in this process or from another one, is found out.
 */
#include <mpi.h>

#include <mpi-ext.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { messages = 8, victims_max = 8, blocking_from = messages - 2 };
static const size_t sizes[] = {8, 3000, 70000, 1 << 20, 4 << 20};

static int world_rank, round_number;
static uint64_t common = 1, own = 1; /* dice: the same everywhere; of this rank alone */

static int below(uint64_t* dice, int limit) {
  *dice ^= *dice << 13;
  *dice ^= *dice >> 7;
  *dice ^= *dice << 17;
  return (int)((*dice >> 11) % (uint64_t)limit);
}

static void wrong(const char* what) {
  fprintf(stderr, "WRONG: rank %d, round %d: %s\n", world_rank, round_number, what);
  fflush(stderr);
  _exit(1);
}

/* A message of the round: the same description at all ranks. */
struct message {
  int from, to, is_received, form, size_at, seed;
};

struct buffer {
  char* data;
  size_t bytes;
};

static struct buffer take(size_t bytes) {
  struct buffer taken = {NULL, (bytes + 4095) & ~(size_t)4095};
  taken.data = mmap(NULL, taken.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (taken.data == MAP_FAILED) wrong("no memory");
  return taken;
}

/* Its memory goes, its addresses stay taken. */
static void give_back(struct buffer* buffer) {
  if (buffer->data == NULL) return;
  mmap(buffer->data, buffer->bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  buffer->data = NULL;
}

static int is_expected(int code) {
  int class = MPI_SUCCESS;
  MPI_Error_class(code, &class);
  return class == MPIX_ERR_REVOKED || class == MPIX_ERR_PROC_FAILED ||
         class == MPIX_ERR_PROC_FAILED_PENDING;
}

static MPI_Request requests[2 * messages];
static struct buffer buffers[2 * messages];
static const struct message* of_request[2 * messages];
static int is_receive[2 * messages], is_over[2 * messages], count, is_told;

/* The i-th request has ended with `code`. */
static void end(int i, int code) {
  if (is_over[i]) wrong("a request ends twice");
  const struct message* m = of_request[i];
  if (code == MPI_SUCCESS && is_receive[i]) {
    const char* data = buffers[i].data;
    const size_t last = sizes[m->size_at] - 1;
    if (data[0] != (char)m->seed || data[last / 2] != (char)m->seed || data[last] != (char)m->seed)
      wrong("a message is not what was sent");
  }
  if (code != MPI_SUCCESS && !is_expected(code))
    wrong("an error that has nothing to do with losses");
  is_told |= code != MPI_SUCCESS;
  is_over[i] = 1;
  give_back(&buffers[i]);
  if (requests[i] != MPI_REQUEST_NULL) MPI_Request_free(&requests[i]);
}

static void start(const struct message* m, int of_receive, MPI_Comm comm) {
  const int bytes = (int)sizes[m->size_at], i = count++, tag = m->seed;
  buffers[i] = take(sizes[m->size_at]);
  of_request[i] = m;
  is_receive[i] = of_receive;
  is_over[i] = 0;
  requests[i] = MPI_REQUEST_NULL;
  char* data = buffers[i].data;
  int code = MPI_SUCCESS;
  if (!of_receive) memset(data, m->seed, sizes[m->size_at]);
  if (of_receive && m->form % 2 == 0) {
    const int from = m->form == 2 ? MPI_ANY_SOURCE : m->from;
    code = MPI_Irecv(data, bytes, MPI_CHAR, from, tag, comm, &requests[i]);
  } else if (of_receive) {
    code = MPI_Recv_init(data, bytes, MPI_CHAR, m->from, tag, comm, &requests[i]);
  } else if (m->form == 0) {
    code = MPI_Isend(data, bytes, MPI_CHAR, m->to, tag, comm, &requests[i]);
  } else if (m->form == 1) {
    code = MPI_Issend(data, bytes, MPI_CHAR, m->to, tag, comm, &requests[i]);
  } else if (m->form == 2) {
    code = MPI_Send_init(data, bytes, MPI_CHAR, m->to, tag, comm, &requests[i]);
  } else {
    code = MPI_Ssend_init(data, bytes, MPI_CHAR, m->to, tag, comm, &requests[i]);
  }
  const int is_persistent = of_receive ? m->form % 2 : m->form >= 2;
  if (code == MPI_SUCCESS && is_persistent) code = MPI_Start(&requests[i]);
  if (code != MPI_SUCCESS) end(i, code);
}

/* In one form or the other, until all are over. */
static void wait_for_all(void) {
  MPI_Status statuses[2 * messages];
  int indices[2 * messages], flag, index, done, left = 0;
  for (int i = 0; i < count; ++i) left += !is_over[i];
  while (left > 0) {
    const int how = below(&own, 6);
    int code = MPI_SUCCESS, first = 0;
    while (is_over[first]) ++first;
    flag = done = 0;
    if (how == 0) {
      end(first, MPI_Wait(&requests[first], MPI_STATUS_IGNORE));
      done = 1;
    } else if (how == 1) {
      code = MPI_Test(&requests[first], &flag, MPI_STATUS_IGNORE);
      if (flag || code != MPI_SUCCESS) end(first, code), done = 1;
    } else if (how == 2) {
      code = MPI_Waitany(count, requests, &index, MPI_STATUS_IGNORE);
      if (index == MPI_UNDEFINED) wrong("nothing to wait for");
      end(index, code), done = 1;
    } else if (how == 3) {
      code = MPI_Testany(count, requests, &index, &flag, MPI_STATUS_IGNORE);
      if (flag && index == MPI_UNDEFINED) wrong("nothing to test");
      if (flag) end(index, code), done = 1;
    } else {
      int number = 0;
      code = how == 4 ? MPI_Waitsome(count, requests, &number, indices, statuses)
                      : MPI_Testsome(count, requests, &number, indices, statuses);
      if (number == MPI_UNDEFINED) wrong("none to wait for");
      for (int k = 0; k < number; ++k)
        end(indices[k], code == MPI_ERR_IN_STATUS ? statuses[k].MPI_ERROR : code);
      done = number;
    }
    left -= done;
  }
}

/* Calls that wait by themselves. */
static void run_blocking(const struct message* m, int self, MPI_Comm comm) {
  const int bytes = (int)sizes[m->size_at];
  struct buffer buffer = take(sizes[m->size_at]), other = take(sizes[m->size_at]);
  int code = MPI_SUCCESS;
  memset(buffer.data, m->seed, sizes[m->size_at]);
  if (m->form == 3 && m->is_received && (self == m->from || self == m->to)) {
    const int peer = self == m->from ? m->to : m->from;
    code = MPI_Sendrecv(buffer.data, bytes, MPI_CHAR, peer, m->seed, other.data, bytes, MPI_CHAR,
                        peer, m->seed, comm, MPI_STATUS_IGNORE);
  } else if (self == m->from) {
    code = m->form % 2 ? MPI_Ssend(buffer.data, bytes, MPI_CHAR, m->to, m->seed, comm)
                       : MPI_Send(buffer.data, bytes, MPI_CHAR, m->to, m->seed, comm);
  } else if (self == m->to && m->is_received) {
    code = MPI_Recv(other.data, bytes, MPI_CHAR, m->from, m->seed, comm, MPI_STATUS_IGNORE);
  }
  if (code != MPI_SUCCESS && !is_expected(code)) wrong("another error in a blocking call");
  give_back(&buffer);
  give_back(&other);
}

static void run_round(MPI_Comm comm, int is_deadly, int is_victim) {
  int self, size;
  struct message all[messages];
  MPI_Comm_rank(comm, &self);
  MPI_Comm_size(comm, &size);
  count = is_told = 0;
  for (int i = 0; i < messages; ++i) {
    struct message* m = &all[i];
    m->from = below(&common, size);
    m->to = (m->from + 1 + below(&common, size - 1)) % size;
    m->is_received = below(&common, 2);
    m->form = below(&common, 4);
    m->size_at = below(&common, 5);
    m->seed = 1 + i;
  }
  const int revoker = below(&common, size), pause_us = below(&common, 1500);
  for (int i = 0; i < blocking_from; ++i) {
    if (all[i].from == self) start(&all[i], 0, comm);
    if (all[i].to == self && all[i].is_received) start(&all[i], 1, comm);
  }
  if (is_victim) {
    usleep((useconds_t)below(&own, 1500));
    raise(SIGKILL);
  }
  if (self == revoker || below(&own, 4 * size) == 0) {
    usleep((useconds_t)pause_us);
    MPIX_Comm_revoke(comm);
  } else {
    /* Where the revoker may die nobody would let go who waits for the living. */
    for (int i = blocking_from; i < messages && !is_deadly; ++i) run_blocking(&all[i], self, comm);
  }
  if (below(&own, 2) && !is_told) usleep((useconds_t)below(&own, 500));
  MPIX_Comm_revoke(comm);
  wait_for_all();
}

int main(int argc, char** argv) {
  const int rounds = argc > 2 ? atoi(argv[2]) : 10, victims = argc > 3 ? atoi(argv[3]) : 0;
  MPI_Comm comm, next;
  int size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  common = 0x9e3779b97f4a7c15u * (uint64_t)(1 + (argc > 1 ? atoi(argv[1]) : 0));
  own = common ^ (0xbf58476d1ce4e5b9u * (uint64_t)(world_rank + 1));
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Barrier(comm);
  for (round_number = 0; round_number < rounds; ++round_number) {
    const int victim = below(&common, size);
    const int is_deadly = round_number % 3 == 1 && round_number / 3 < victims;
    run_round(comm, is_deadly, is_deadly && victim == world_rank);
    if (MPIX_Comm_shrink(comm, &next) != MPI_SUCCESS) wrong("shrink fails");
    MPI_Comm_set_errhandler(next, MPI_ERRORS_RETURN);
    MPI_Comm_free(&comm);
    comm = next;
  }
  MPI_Comm_size(comm, &size);
  MPI_Comm_free(&comm);
  MPI_Finalize();
  printf("rank %d is through, of %d\n", world_rank, size);
  return 0;
}
