/* Messages around a ring by MPI_Isendrecv and MPI_Isendrecv_replace: small and large, dense and
 * with gaps, from a rank and from anybody, several under way at once, completed in all ways. Each
 * rank sends 24. Says nothing if nothing that it receives is wrong.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { rounds = 6, at_once = 4, length = 3000, small = 6 };

static int rank, size, left, right;
static MPI_Datatype column; /* every second number */

static int value(int of_rank, int round, int which, int i) {
  return 100000 * of_rank + 10000 * round + 1000 * which + i % 1000;
}

typedef struct {
  int *out, *in, step, count;
} Data;

static MPI_Request started(Data* data, int round, int which) {
  const int source = (round + which) % 2 ? MPI_ANY_SOURCE : left, tag = which;
  const MPI_Datatype type = which == 3 ? column : MPI_INT;
  MPI_Request request;
  data->step = which == 3 ? 2 : 1;
  data->count = which == 0 ? small : which == 3 ? length / 2 : length;
  for (int i = 0; i < length; ++i) data->out[i] = data->in[i] = -1;
  for (int i = 0; i < data->count; ++i)
    data->out[i * data->step] = data->in[i * data->step] = value(rank, round, which, i);
  const int count = which == 3 ? 1 : data->count;
  if (which % 2)
    MPI_Isendrecv_replace(data->in, count, type, right, tag, source, tag, MPI_COMM_WORLD, &request);
  else
    MPI_Isendrecv(data->out, count, type, right, tag, data->in, count, type, source, tag,
                  MPI_COMM_WORLD, &request);
  return request;
}

static void complete(int round, MPI_Request* r) {
  int left_open = at_once, flag = 0, index, done, indices[at_once];
  if (round == 0) MPI_Waitall(at_once, r, MPI_STATUSES_IGNORE);
  while (round == 1 && !flag) MPI_Testall(at_once, r, &flag, MPI_STATUSES_IGNORE);
  for (; round == 2 && left_open > 0; --left_open)
    MPI_Waitany(at_once, r, &index, MPI_STATUS_IGNORE);
  for (; round == 3 && left_open > 0; left_open -= done)
    MPI_Waitsome(at_once, r, &done, indices, MPI_STATUSES_IGNORE);
  for (int i = 0; round == 4 && i < at_once; ++i)
    for (flag = 0; !flag;) MPI_Test(&r[i], &flag, MPI_STATUS_IGNORE);
  for (int i = at_once - 1; round == 5 && i >= 0; --i) {
    MPI_Status status;
    MPI_Wait(&r[i], &status);
    if (status.MPI_SOURCE != left || status.MPI_TAG != i) printf("rank %d: its source\n", rank);
  }
}

static void check(const Data* data, int round, int which) {
  for (int i = 0; i < length; ++i) {
    const int is_sent = i % data->step == 0 && i / data->step < data->count;
    const int expected = is_sent ? value(left, round, which, i / data->step) : -1;
    if (data->in[i] == expected) continue;
    printf("rank %d, round %d, number %d of message %d is %d\n", rank, round, i, which,
           data->in[i]);
    return;
  }
}

/* Who receives nothing is through before its message is on its way. */
static void line(Data* data) {
  const int to = rank < size - 1 ? right : MPI_PROC_NULL, from = rank > 0 ? left : MPI_PROC_NULL;
  MPI_Request request;
  MPI_Status status;
  for (int i = 0; i < length; ++i) data->out[i] = value(rank, rounds, 0, i), data->in[i] = -1;
  if (rank > 0) usleep(200000);
  MPI_Isendrecv(data->out, length, MPI_INT, to, 9, data->in, length, MPI_INT, from, 9,
                MPI_COMM_WORLD, &request);
  for (int i = 0; i < length; ++i) data->out[i] = -1;
  MPI_Wait(&request, &status);
  if (status.MPI_SOURCE != from) printf("rank %d: its source at the end\n", rank);
  for (int i = 0; i < length; ++i)
    if (data->in[i] != (rank > 0 ? value(left, rounds, 0, i) : -1))
      printf("rank %d: number %d at the end is %d\n", rank, i, data->in[i]);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  left = (rank + size - 1) % size, right = (rank + 1) % size;
  MPI_Type_vector(length / 2, 1, 2, MPI_INT, &column);
  MPI_Type_commit(&column);
  Data data[at_once];
  for (int i = 0; i < at_once; ++i) {
    data[i].out = malloc(length * sizeof(int));
    data[i].in = malloc(length * sizeof(int));
  }
  for (int round = 0; round < rounds; ++round) {
    MPI_Request requests[at_once];
    for (int i = 0; i < at_once; ++i) requests[i] = started(&data[i], round, i);
    complete(round, requests);
    for (int i = 0; i < at_once; ++i) {
      if (requests[i] != MPI_REQUEST_NULL) printf("rank %d: a request is left\n", rank);
      check(&data[i], round, i);
    }
  }
  line(&data[0]);
  for (int i = 0; i < at_once; ++i) free(data[i].out), free(data[i].in);
  MPI_Type_free(&column);
  MPI_Finalize();
  return 0;
}
