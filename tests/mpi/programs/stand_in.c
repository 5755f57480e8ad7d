/* Everything in which siblings stand in for a lost rank, over and over. What each rank has at the
   end follows from all that it has received: one wrong byte anywhere makes it another number.

   stand_in STEPS [FOLDER]: each rank prints "rank R has X", and writes X into a file there that has
   the numbers of its replica and its rank. */
#include "stand_in.h"

enum { large = 5000 };

/* Every other element is sent; to the next rank, always. */
static int pieces_out[4], pieces_in[4];
static MPI_Request persistent[2];

static void point_to_point(int step) {
  const int next = (rank + 1 + step % (size - 1)) % size;
  const int before = (rank + size - 1 - step % (size - 1)) % size;
  int out[3] = {part(step, 0), part(step, 1), part(step, 2)}, in[3] = {0, 0, 0};
  MPI_Request requests[2];
  MPI_Status status;
  MPI_Irecv(in, 3, MPI_INT, before, step % 3, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(out, 3, MPI_INT, next, step % 3, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  mix_all(in, 3);

  MPI_Sendrecv(out, 2, MPI_INT, before, 9, in, 3, MPI_INT, next, 9, MPI_COMM_WORLD, &status);
  int count = 0;
  MPI_Get_count(&status, MPI_INT, &count);
  mix_all(in, count);
  mix((unsigned long)(status.MPI_SOURCE + status.MPI_TAG));

  for (int k = 0; k < 2; ++k) pieces_out[2 * k] = part(step, 3 + k);
  MPI_Startall(2, persistent);
  for (int k = 0; k < 2; ++k) {
    int which;
    MPI_Waitany(2, persistent, &which, MPI_STATUS_IGNORE);
  }
  for (int k = 0; k < 2; ++k) mix((unsigned long)pieces_in[2 * k]);

  if (rank % 2 == 0 && rank + 1 < size) MPI_Send(out, 1, MPI_INT, rank + 1, 4, MPI_COMM_WORLD);
  if (rank % 2 == 1) {
    MPI_Recv(in, 1, MPI_INT, rank - 1, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    mix_all(in, 1);
  }
}

/* One that goes on while messages are exchanged, and one that is started again and again. */
static int started_in, started_out;
static MPI_Request started;

static void nonblocking(int step) {
  int pieces[2 * ranks_max], blocks[2 * ranks_max], least = part(step, rank), of_all = 0;
  for (int i = 0; i < 2 * size; ++i) pieces[i] = part(step, i);
  MPI_Request requests[4];
  started_in = part(step, 11);
  MPI_Ialltoall(pieces, 2, MPI_INT, blocks, 2, MPI_INT, MPI_COMM_WORLD, &requests[0]);
  MPI_Iallreduce(&least, &of_all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD, &requests[1]);
  MPI_Start(&started);
  point_to_point(step);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  MPI_Wait(&started, MPI_STATUS_IGNORE);
  mix_all(blocks, 2 * size);
  mix_all(&started_out, 1);
  int some[3] = {part(step, 1), part(step, 2), part(step, 3)};
  MPI_Ibcast(some, 3, MPI_INT, (step + 1) % size, MPI_COMM_WORLD, &requests[2]);
  MPI_Ibarrier(MPI_COMM_WORLD, &requests[3]);
  MPI_Waitall(3, &requests[1], MPI_STATUSES_IGNORE);
  mix_all(some, 3);
  mix_all(&of_all, 1);
}

static void large_ones(int step, MPI_Comm comm) {
  static int out[large], in[large];
  for (int i = 0; i < large; ++i) out[i] = part(step, i + rank);
  MPI_Allreduce(out, in, large, MPI_INT, MPI_SUM, comm);
  mix_all(in, large);
  MPI_Bcast(out, large, MPI_INT, (step / 5) % size, comm);
  mix_all(out, large);
}

int main(int argc, char** argv) {
  const int steps = argc > 1 ? atoi(argv[1]) : 100;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  state = (unsigned long)rank;
  MPI_Datatype every_other;
  MPI_Type_vector(2, 1, 2, MPI_INT, &every_other);
  MPI_Type_commit(&every_other);
  MPI_Send_init(pieces_out, 1, every_other, (rank + 1) % size, 6, MPI_COMM_WORLD, &persistent[0]);
  MPI_Recv_init(pieces_in, 1, every_other, (rank + size - 1) % size, 6, MPI_COMM_WORLD,
                &persistent[1]);
  MPI_Allreduce_init(&started_in, &started_out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL,
                     &started);
  MPI_Comm half;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
  for (int step = 0; step < steps; ++step) {
    if (size > 1) point_to_point(step);
    collectives(step, MPI_COMM_WORLD);
    if (step % 3 == 0) collectives(step, half);
    if (size > 1) nonblocking(step);
    if (step % 5 == 0) large_ones(step, MPI_COMM_WORLD);
  }
  say(argc > 2 ? argv[2] : NULL);
  MPI_Comm_free(&half);
  for (int k = 0; k < 2; ++k) MPI_Request_free(&persistent[k]);
  MPI_Request_free(&started);
  MPI_Type_free(&every_other);
  MPI_Finalize();
  return 0;
}
