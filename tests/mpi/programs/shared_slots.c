// Collectives that the MPI library carries and such that go over shared slots, in turns, into which
// ranks die at any moment; checks each result.
//
//   shared slots MICROSECONDS VICTIM...
//
// The first victim ends itself (SIGKILL) by its clock so long after the first calls, each further
// one half as long after the one before it.
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "die_after.h"

enum { LARGE = 1024, HUGE = 8192, ROUNDS_AFTER = 160, ROUNDS_MAX = 200000 };

static int rank, size, victims, wrong;
static double large[LARGE], sums[LARGE];
static long huge[HUGE];

static void expect(int condition, const char* what) {
  if (condition) return;
  ++wrong;
  printf("rank %d: %s is wrong\n", rank, what);
}

static int may_be(double sum) { return sum == (int)sum && sum >= size - victims && sum <= size; }

static void broadcast(int root, long number) {
  long value = rank == root ? number : -1;
  if (MPI_Bcast(&value, 1, MPI_LONG, root, MPI_COMM_WORLD) == MPI_SUCCESS)
    expect(value == number, "a small broadcast");
}

// So many contribute to it as live.
static double allreduce_of_one(void) {
  double one = 1, sum = 0;
  if (MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD) == MPI_SUCCESS)
    expect(may_be(sum), "a small allreduce");
  return sum;
}

static void round_of(int number) {
  if (MPI_Allreduce(large, sums, LARGE, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD) == MPI_SUCCESS)
    expect(may_be(sums[0]) && memcmp(sums, sums + 1, sizeof sums - sizeof *sums) == 0,
           "a large allreduce");
  for (int i = 0; i < 3; ++i) broadcast((number + i) % size, 10L * number + i);
  if (number % 16 == 1) {
    const int root = number / 16 % size;
    double sum = 0;
    for (int i = 0; i < HUGE; ++i) huge[i] = rank == root ? number : -1;
    if (MPI_Bcast(huge, HUGE, MPI_LONG, root, MPI_COMM_WORLD) == MPI_SUCCESS)
      expect(huge[0] == number && huge[HUGE - 1] == number, "a large broadcast");
    if (MPI_Reduce(large, &sum, 1, MPI_DOUBLE, MPI_SUM, root, MPI_COMM_WORLD) == MPI_SUCCESS &&
        rank == root)
      expect(may_be(sum), "a reduce");
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int i = 0; i < LARGE; ++i) large[i] = 1;
  for (int i = 0; i < 40; ++i) broadcast(i % size, i);
  victims = argc - 2;
  long after = atol(argv[1]);
  for (int i = 2; i < argc; ++i, after += after / 2)
    if (atoi(argv[i]) == rank) die_after(after);
  int rounds_after = 0;
  for (int number = 0; number < ROUNDS_MAX && rounds_after < ROUNDS_AFTER; ++number) {
    round_of(number);
    // All see the same.
    if (number % 8 == 0 && allreduce_of_one() == size - victims) rounds_after += 8;
  }
  expect(rounds_after == ROUNDS_AFTER, "the number of those that live");
  printf("rank %d has %d wrong results\n", rank, wrong);
  MPI_Finalize();
  return wrong != 0;
}
