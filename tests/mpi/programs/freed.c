/* Datatypes and communicators that are freed while requests still need them, in all ways that MPI
 * allows. The handles that they leave behind are used again at once. Says nothing if nothing that
 * is received is wrong.
 */
#include <mpi.h>
#include <stdio.h>

enum { length = 64, half = length / 2, rounds = 10, starts = 3 };

static int rank, left, right, wrong;
static double out[length], in[length];

/* Half of the numbers: the first ones, or every other one. */
static MPI_Datatype made(int is_dense) {
  MPI_Datatype type;
  if (is_dense)
    MPI_Type_contiguous(half, MPI_DOUBLE, &type);
  else
    MPI_Type_vector(half, 1, 2, MPI_DOUBLE, &type);
  MPI_Type_commit(&type);
  return type;
}

static void free_and_use_again(MPI_Datatype* type) {
  MPI_Datatype others[8];
  MPI_Type_free(type);
  for (int i = 0; i < 8; ++i) {
    MPI_Type_vector(3 + i, 1, 5 + i, MPI_INT, &others[i]);
    MPI_Type_commit(&others[i]);
  }
  for (int i = 0; i < 8; ++i) MPI_Type_free(&others[i]);
}

static void fill(int round) {
  for (int i = 0; i < length; ++i) out[i] = 100 * rank + i + round, in[i] = -1;
}

static void check(int is_dense, int round) {
  for (int i = 0; i < half; ++i) {
    const int at = is_dense ? i : 2 * i;
    if (in[at] != 100 * left + at + round) ++wrong;
  }
}

static void receive(int is_dense, int round) {
  MPI_Datatype type = made(is_dense), of_sent = made(is_dense);
  MPI_Request request;
  fill(round);
  MPI_Irecv(in, 1, type, left, 1, MPI_COMM_WORLD, &request);
  free_and_use_again(&type);
  MPI_Send(out, 1, of_sent, right, 1, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Type_free(&of_sent);
  check(is_dense, round);
}

static void start_again(int is_dense, int round) {
  MPI_Datatype types[] = {made(is_dense), made(is_dense)};
  MPI_Request requests[2];
  MPI_Recv_init(in, 1, types[0], left, 1, MPI_COMM_WORLD, &requests[0]);
  MPI_Send_init(out, 1, types[1], right, 1, MPI_COMM_WORLD, &requests[1]);
  for (int i = 0; i < 2; ++i) free_and_use_again(&types[i]);
  for (int start = 0; start < starts; ++start) {
    fill(round + start);
    MPI_Startall(2, requests);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    check(is_dense, round + start);
  }
  for (int i = 0; i < 2; ++i) MPI_Request_free(&requests[i]);
}

static void broadcast(int is_dense, int round) {
  MPI_Datatype type = made(is_dense);
  MPI_Request request;
  for (int i = 0; i < length; ++i) in[i] = rank == 0 ? 100 * left + i + round : -1;
  double of_root = 100 * left;
  MPI_Bcast(&of_root, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  MPI_Ibcast(in, 1, type, 0, MPI_COMM_WORLD, &request);
  free_and_use_again(&type);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (int i = 0; i < half; ++i) {
    const int at = is_dense ? i : 2 * i;
    if (in[at] != of_root + at + round) ++wrong;
  }
}

/* What is under way on a communicator that is freed goes on. */
static void on_freed_communicator(int round) {
  MPI_Comm comm;
  MPI_Request requests[2];
  fill(round);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Irecv(in, half - 1, MPI_DOUBLE, left, MPI_ANY_TAG, comm, &requests[0]);
  MPI_Irecv(in + half - 1, 1, MPI_DOUBLE, left, 6, comm, &requests[1]);
  MPI_Send(out, half - 1, MPI_DOUBLE, right, 5, comm);
  MPI_Send(out + half - 1, 1, MPI_DOUBLE, right, 6, comm);
  MPI_Comm_free(&comm);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  check(1, round);
}

int main(int argc, char** argv) {
  int size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  left = (rank + size - 1) % size, right = (rank + 1) % size;
  for (int round = 0; round < rounds; ++round) {
    for (int is_dense = 0; is_dense < 2; ++is_dense) {
      receive(is_dense, round);
      start_again(is_dense, round);
      broadcast(is_dense, round);
    }
    on_freed_communicator(round);
  }
  if (wrong > 0) printf("rank %d: %d numbers are wrong\n", rank, wrong);
  MPI_Finalize();
  return wrong > 0;
}
