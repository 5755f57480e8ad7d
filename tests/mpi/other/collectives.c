// Collectives, one after the other, while ranks are lost: their results have to be right.
//
//   collectives KIND ROUNDS      KIND: allreduce bcast barrier reduce gather alltoall sendrecv
//   iallreduce
//
// The launcher's injector kills. A rank that is alive says "rank R ok", or what was wrong.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ranks_max = 16 };
static int rank, size, wrong, before = ranks_max;

static void check(int is_right) { wrong += !is_right; }

// All who live have the same sum of ones, and it never grows.
static void check_sum(int sum) {
  check(sum >= 1 && sum <= size && sum <= before);
  before = sum;
}

static void allreduce(void) {
  const int one = 1;
  int sum = 0;
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  check_sum(sum);
}

static void iallreduce(void) {
  const int one = 1;
  int sum = 0;
  MPI_Request request;
  MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  check_sum(sum);
}

static void bcast(int round) {
  const int root = round % size;
  int value = rank == root ? round : -1;
  MPI_Bcast(&value, 1, MPI_INT, root, MPI_COMM_WORLD);
  check(value == round || value == -1);  // -1: nobody has what only the lost root had
}

static void reduce(int round) {
  const int one = 1, root = round % size;
  int sum = 0;
  MPI_Reduce(&one, &sum, 1, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
  if (rank == root) check(sum >= 1 && sum <= size);
}

static void gather(int round) {
  const int root = round % size;
  int all[ranks_max];
  memset(all, -1, sizeof all);
  MPI_Gather(&rank, 1, MPI_INT, all, 1, MPI_INT, root, MPI_COMM_WORLD);
  for (int i = 0; rank == root && i < size; ++i) check(all[i] == i || all[i] == -1);
}

static void alltoall(void) {
  int given[ranks_max], got[ranks_max];
  memset(got, -1, sizeof got);
  for (int i = 0; i < size; ++i) given[i] = rank * ranks_max + i;
  MPI_Alltoall(given, 1, MPI_INT, got, 1, MPI_INT, MPI_COMM_WORLD);
  for (int i = 0; i < size; ++i) check(got[i] == i * ranks_max + rank || got[i] == -1);
}

// With the neighbors on a ring, of which one may be lost.
static void sendrecv(int round) {
  const int right = (rank + 1) % size, left = (rank + size - 1) % size;
  int got = -1;
  MPI_Sendrecv(&round, 1, MPI_INT, right, 0, &got, 1, MPI_INT, left, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  check(got == round || got == -1);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const char* kind = argv[1];
  for (int round = 0, rounds = atoi(argv[2]); round < rounds; ++round) {
    if (strcmp(kind, "allreduce") == 0) allreduce();
    if (strcmp(kind, "iallreduce") == 0) iallreduce();
    if (strcmp(kind, "bcast") == 0) bcast(round);
    if (strcmp(kind, "barrier") == 0) MPI_Barrier(MPI_COMM_WORLD);
    if (strcmp(kind, "reduce") == 0) reduce(round);
    if (strcmp(kind, "gather") == 0) gather(round);
    if (strcmp(kind, "alltoall") == 0) alltoall();
    if (strcmp(kind, "sendrecv") == 0) sendrecv(round);
  }
  if (wrong == 0)
    printf("rank %d ok\n", rank);
  else
    printf("rank %d: %d results are wrong\n", rank, wrong);
  MPI_Finalize();
  return wrong != 0;
}
