/* Small gathers, reductions and scans whose payloads are read on demand: exact results before and
 * after a rank has died.
 *
 *   on_demand ahead                     nobody dies; who gives returns before the others have come
 *   on_demand ROUNDS VICTIM [error]     the victim dies (SIGKILL) after so many rounds; error: who
 *                                       misses it in a gather is told by the code
 *
 * What the victim has given before it died counts at all, however late they look; and nothing does
 * that it has not given.
 */
#include <mpi.h>
#include <resprout/resprout.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RANKS_MAX = 64, ROUNDS_AFTER = 150, COUNT = 3 };

static int rank, size, wrong, are_errors_wanted;

static void expect(int condition, const char* what, int round) {
  if (condition) return;
  ++wrong;
  printf("rank %d: %s of round %d is wrong\n", rank, what, round);
}

static long given_by(int r, int round, int i) { return 1000L * round + 10 * r + i; }

/* Ranks below `end`, of those who give. */
static long sum_of(int end, int without, int round, int i) {
  long sum = 0;
  for (int r = 0; r < end; ++r) sum += r == without ? 0 : given_by(r, round, i);
  return sum;
}

/* `without`: who is gone, or -1. */
static void check_contributors(int without, int round) {
  if (!resprout_contributors) return;
  MPI_Group group;
  int count = 0;
  expect(resprout_contributors(MPI_COMM_WORLD, &group) == MPI_SUCCESS, "the group", round);
  MPI_Group_size(group, &count);
  expect(count == size - (without >= 0), "the number of contributors", round);
  if (group != MPI_GROUP_EMPTY) MPI_Group_free(&group);
}

static void gather(int root, int without, int round, const long* mine, int count) {
  long all[RANKS_MAX * COUNT];
  for (int i = 0; i < size * count; ++i) all[i] = -7;
  const int is_in_place = rank == root && round % 2;
  if (is_in_place) memcpy(all + rank * count, mine, sizeof *mine * (size_t)count);
  const int code = MPI_Gather(is_in_place ? MPI_IN_PLACE : mine, count, MPI_LONG, all, count,
                              MPI_LONG, root, MPI_COMM_WORLD);
  const int is_told = are_errors_wanted && without >= 0;
  expect(rank != root || (code != MPI_SUCCESS) == is_told, "the code of a gather", round);
  for (int r = 0; r < size; ++r)
    for (int i = 0; i < count; ++i)
      expect(all[r * count + i] == (rank != root || r == without ? -7 : given_by(r, round, i)),
             "a gather", round);
  if (rank == root) check_contributors(without, round);
}

static void reduce(int root, int without, int round, const long* mine, int count) {
  long sums[COUNT] = {-7, -7, -7};
  const int is_in_place = rank == root && round % 2;
  if (is_in_place) memcpy(sums, mine, sizeof *mine * (size_t)count);
  MPI_Reduce(is_in_place ? MPI_IN_PLACE : mine, sums, count, MPI_LONG, MPI_SUM, root,
             MPI_COMM_WORLD);
  for (int i = 0; i < count; ++i)
    expect(sums[i] == (rank == root ? sum_of(size, without, round, i) : -7), "a reduce", round);
  if (rank == root) check_contributors(without, round);
}

static void scan(int is_inclusive, int without, int round, const long* mine, int count) {
  long sums[COUNT] = {-7, -7, -7};
  const int is_in_place = round % 3 == 0;
  if (is_in_place) memcpy(sums, mine, sizeof *mine * (size_t)count);
  const void* from = is_in_place ? MPI_IN_PLACE : mine;
  if (is_inclusive)
    MPI_Scan(from, sums, count, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  else
    MPI_Exscan(from, sums, count, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  const int end = rank + is_inclusive;
  const int is_alone = end == 0 || (end == 1 && without == 0);
  for (int i = 0; i < count; ++i)
    expect(sums[i] == (is_alone ? (is_in_place ? mine[i] : -7) : sum_of(end, without, round, i)),
           is_inclusive ? "a scan" : "an exscan", round);
}

static void scatter(int root, int without, int round) {
  long all[RANKS_MAX];
  for (int r = 0; r < size; ++r) all[r] = given_by(r, round, 0);
  long mine = -7;
  const int code = MPI_Scatter(all, 1, MPI_LONG, &mine, 1, MPI_LONG, root, MPI_COMM_WORLD);
  expect((code == MPI_SUCCESS) == (root != without), "the code of a scatter", round);
  expect(mine == (code == MPI_SUCCESS ? given_by(rank, round, 0) : -7), "a scatter", round);
}

static void round_of(int round, int without) {
  long mine[COUNT];
  const int root = round % size, count = 1 + round % COUNT;
  for (int i = 0; i < COUNT; ++i) mine[i] = given_by(rank, round, i);
  gather(root, without, round, mine, count);
  reduce(root, without, round, mine, count);
  scan(1, without, round, mine, count);
  scan(0, without, round, mine, count);
  if (round % 8 == 0 && !are_errors_wanted) scatter(round / 8 % size, without, round);
  if (round % 32 == 5 && rank == round % 7) usleep(2000); /* others run ahead */
}

/* The root comes when all others say that they are through. */
static void give_ahead(int round) {
  long mine = given_by(rank, round, 0), all[RANKS_MAX], sum = -7;
  const int root = round % size;
  if (rank == root)
    for (int r = 0; r < size; ++r)
      if (r != root) MPI_Recv(NULL, 0, MPI_INT, r, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Gather(&mine, 1, MPI_LONG, all, 1, MPI_LONG, root, MPI_COMM_WORLD);
  MPI_Reduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, root, MPI_COMM_WORLD);
  if (rank != root) {
    MPI_Send(NULL, 0, MPI_INT, root, 0, MPI_COMM_WORLD);
    return;
  }
  for (int r = 0; r < size; ++r) expect(all[r] == given_by(r, round, 0), "a gather", round);
  expect(sum == sum_of(size, -1, round, 0), "a reduce", round);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (argc < 2 || size > RANKS_MAX) return 2;
  MPI_Barrier(MPI_COMM_WORLD);
  if (strcmp(argv[1], "ahead") == 0) {
    for (int round = 0; round < 100; ++round) give_ahead(round);
  } else {
    const int rounds = atoi(argv[1]), victim = argc > 2 ? atoi(argv[2]) : -1;
    are_errors_wanted = argc > 3;
    for (int round = 0; round < rounds; ++round) round_of(round, -1);
    if (rank == victim) raise(SIGKILL);
    for (int round = rounds; round < rounds + ROUNDS_AFTER; ++round) round_of(round, victim);
  }
  printf("rank %d has %d wrong results\n", rank, wrong);
  MPI_Finalize();
  return wrong != 0;
}
