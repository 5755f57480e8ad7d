/* A ring in which every rank sends its right neighbor two messages in each of the ways that MPI
 * has, one dense and one with gaps. What differs from what should have come is said on stdout, a
 * line a bit: "rank 1 received message 5 of rank 0 with bit 17 flipped". Messages are counted
 * from 1.
 */
#include <limits.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { ways = 14, length = 6, stride = 2, spread = length * stride };

static int rank, size, left, right, message;
static MPI_Datatype column;
static MPI_Comm comm;

typedef struct {
  int values[spread];
  MPI_Datatype type;
  int count;
} Data;

/* Where value i is. */
static int place(const Data* data, int i) { return data->type == MPI_INT ? i : i * stride; }

static int value(int sender, int number, int i) { return sender * 1000000 + number * 1000 + i; }

static void fill(Data* data, int is_dense, int sender) {
  data->type = is_dense ? MPI_INT : column;
  data->count = is_dense ? length : 1;
  for (int i = 0; i < spread; ++i) data->values[i] = -1;
  for (int i = 0; i < length; ++i) data->values[place(data, i)] = value(sender, message, i);
}

static void check_received(const Data* data) {
  for (int i = 0; i < length; ++i) {
    const unsigned difference = (unsigned)(data->values[place(data, i)] ^ value(left, message, i));
    for (int bit = 0; bit < (int)sizeof(int) * CHAR_BIT; ++bit)
      if (difference >> bit & 1)
        printf("rank %d received message %d of rank %d with bit %d flipped\n", rank, message, left,
               i * (int)sizeof(int) * CHAR_BIT + bit);
  }
}

/* The program's own data are what they were. */
static void check_sent(const Data* data) {
  for (int i = 0; i < length; ++i)
    if (data->values[place(data, i)] != value(rank, message, i)) {
      fprintf(stderr, "WRONG: a send buffer has changed\n");
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

static void start(int way, Data* out, MPI_Request* request) {
  void* v = out->values;
  const int n = out->count, tag = way;
  const MPI_Datatype t = out->type;
  *request = MPI_REQUEST_NULL;
  if (way == 0) MPI_Send(v, n, t, right, tag, comm);
  if (way == 1) MPI_Bsend(v, n, t, right, tag, comm);
  if (way == 2) MPI_Rsend(v, n, t, right, tag, comm);
  if (way == 3) MPI_Ssend(v, n, t, right, tag, comm);
  if (way == 4) MPI_Isend(v, n, t, right, tag, comm, request);
  if (way == 5) MPI_Ibsend(v, n, t, right, tag, comm, request);
  if (way == 6) MPI_Irsend(v, n, t, right, tag, comm, request);
  if (way == 7) MPI_Issend(v, n, t, right, tag, comm, request);
  if (way == 8) MPI_Send_init(v, n, t, right, tag, comm, request);
  if (way == 9) MPI_Bsend_init(v, n, t, right, tag, comm, request);
  if (way == 10) MPI_Rsend_init(v, n, t, right, tag, comm, request);
  if (way == 11) MPI_Ssend_init(v, n, t, right, tag, comm, request);
  if (way == 8 || way == 9) MPI_Start(request);
  if (way == 10 || way == 11) MPI_Startall(1, request);
}

static void exchange(int way, int is_dense) {
  Data out, in;
  ++message;
  fill(&out, is_dense, rank);
  fill(&in, is_dense, -1);
  if (way == 12) {
    MPI_Sendrecv(out.values, out.count, out.type, right, way, in.values, in.count, in.type, left,
                 way, comm, MPI_STATUS_IGNORE);
  } else if (way == 13) {
    in = out;
    MPI_Sendrecv_replace(in.values, in.count, in.type, right, way, left, way, comm,
                         MPI_STATUS_IGNORE);
  } else {
    MPI_Request received, sent;
    MPI_Irecv(in.values, in.count, in.type, left, way, comm, &received);
    MPI_Barrier(comm); /* everybody is ready, as MPI_Rsend demands */
    start(way, &out, &sent);
    MPI_Wait(&received, MPI_STATUS_IGNORE);
    MPI_Wait(&sent, MPI_STATUS_IGNORE);
    if (sent != MPI_REQUEST_NULL) MPI_Request_free(&sent);
  }
  check_received(&in);
  check_sent(&out);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  comm = MPI_COMM_WORLD;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  left = (rank + size - 1) % size;
  right = (rank + 1) % size;
  MPI_Type_vector(length, 1, stride, MPI_INT, &column);
  MPI_Type_commit(&column);
  int room = 1 << 16;
  void* buffer = malloc((size_t)room);
  MPI_Buffer_attach(buffer, room);
  MPI_Send(&rank, 1, MPI_INT, MPI_PROC_NULL, 0, comm); /* no message */
  for (int way = 0; way < ways; ++way)
    for (int is_dense = 0; is_dense < 2; ++is_dense) exchange(way, is_dense);
  MPI_Buffer_detach(&buffer, &room);
  free(buffer);
  MPI_Type_free(&column);
  MPI_Finalize();
  return 0;
}
