/* Makes, uses and frees communicators in a random order that all ranks share, while some of them
 * die.
 *
 *   communicators SEED [STEPS]      to be run with --on-loss continue
 *
 * The program stands in a communicator, first in MPI_COMM_WORLD. Each step makes another one out of
 * it (dup, split, split_type, create, create_group, cart_create, cart_sub), uses it, and either
 * frees it or steps into it. In each one sums must be those of its contributors, all members must
 * have the same, and messages must be those of their senders. The last one left says so.
 */
#include <mpi.h>
#include <resprout/resprout.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { depth_max = 4 };

static int world_rank;
static unsigned long long state;

static void fail(const char* what, long got, long due) {
  fprintf(stderr, "WRONG: rank %d: %s: %ld instead of %ld\n", world_rank, what, got, due);
  fflush(stderr);
  _exit(1);
}

/* The same at all ranks. */
static int below(int bound) {
  state = state * 6364136223846793005ULL + 1442695040888963407ULL;
  return (int)((state >> 33) % (unsigned long long)bound);
}

static long world_sum(MPI_Group group) {
  int count;
  long sum = 0;
  MPI_Group world;
  MPI_Group_size(group, &count);
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  for (int i = 0; i < count; ++i) {
    int found;
    MPI_Group_translate_ranks(group, 1, &i, world, &found);
    sum += found + 1;
  }
  MPI_Group_free(&world);
  return sum;
}

static void use_collectives(MPI_Comm comm) {
  long mine = world_rank + 1, sum = 0, ends[2];
  MPI_Group contributors;
  if (MPI_Allreduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, comm) != MPI_SUCCESS)
    fail("allreduce", 0, 1);
  resprout_contributors(comm, &contributors);
  if (sum != world_sum(contributors)) fail("sum", sum, world_sum(contributors));
  MPI_Group_free(&contributors);
  ends[0] = sum;
  ends[1] = -sum;
  if (MPI_Allreduce(MPI_IN_PLACE, ends, 2, MPI_LONG, MPI_MAX, comm) != MPI_SUCCESS)
    fail("allreduce", 0, 1);
  if (ends[0] != sum || ends[1] != -sum) fail("sum of others", ends[0], sum);
}

/* Around a ring: whoever is beside the lost gets an error instead of the message. The messages of
 * the second kind wait for their receivers. */
static void use_messages(MPI_Comm comm, int step) {
  static int there[8192], here[8192];
  int rank, size, flag, wanted;
  MPI_Status status;
  MPI_Request requests[2];
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  for (int i = 0; i < 8192; ++i) there[i] = world_rank * 1000 + step % 1000;
  int right = (rank + 1) % size, left = (rank + size - 1) % size;
  int count = step % 2 ? 8192 : 4;
  MPI_Group group, world;
  MPI_Comm_group(comm, &group);
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_translate_ranks(group, 1, &left, world, &wanted);
  MPI_Group_free(&group);
  MPI_Group_free(&world);
  int code = MPI_Sendrecv(there, count, MPI_INT, right, step, here, count, MPI_INT, left, step,
                          comm, &status);
  if (code == MPI_SUCCESS) {
    if (status.MPI_SOURCE != left) fail("source", status.MPI_SOURCE, left);
    if (here[count - 1] != wanted * 1000 + step % 1000) fail("message", here[count - 1], wanted);
  }
  memset(here, 0, sizeof here);
  int receive = MPI_Irecv(here, count, MPI_INT, left, step, comm, &requests[0]);
  int send = MPI_Issend(there, count, MPI_INT, right, step, comm, &requests[1]);
  if (receive == MPI_SUCCESS && MPI_Wait(&requests[0], &status) == MPI_SUCCESS) {
    if (status.MPI_SOURCE != left) fail("source", status.MPI_SOURCE, left);
    if (here[count - 1] != wanted * 1000 + step % 1000) fail("message", here[count - 1], wanted);
  }
  for (flag = 0; send == MPI_SUCCESS && !flag;)
    if (MPI_Test(&requests[1], &flag, MPI_STATUS_IGNORE) != MPI_SUCCESS)
      break;
    else
      sched_yield();
}

static MPI_Comm make(MPI_Comm from) {
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Group all, some;
  int rank, size, kind = below(8), dims[2] = {0, 0}, periods[2] = {1, 1}, remain[2] = {0, 1};
  int range[1][3];
  MPI_Comm_rank(from, &rank);
  MPI_Comm_size(from, &size);
  int code = MPI_SUCCESS;
  switch (kind) {
    case 0:
      code = MPI_Comm_dup(from, &made);
      break;
    case 1:
      code = MPI_Comm_split(from, rank % 2, -rank, &made);
      break;
    case 2:
      code = MPI_Comm_split_type(from, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &made);
      break;
    case 3:
    case 4:
      range[0][0] = 0;
      range[0][1] = size - 1;
      range[0][2] = size > 4 ? 2 : 1;
      MPI_Comm_group(from, &all);
      MPI_Group_range_incl(all, 1, range, &some);
      if (kind == 3)
        code = MPI_Comm_create(from, some, &made);
      else if (rank % range[0][2] == 0)
        code = MPI_Comm_create_group(from, some, 7, &made);
      MPI_Group_free(&some);
      MPI_Group_free(&all);
      break;
    case 5:
      MPI_Dims_create(size, 2, dims);
      code = MPI_Cart_create(from, 2, dims, periods, 0, &made);
      break;
    case 6: {
      MPI_Comm grid = MPI_COMM_NULL;
      int there[2], up, down;
      MPI_Dims_create(size, 2, dims);
      code = MPI_Cart_create(from, 2, dims, periods, 0, &grid);
      if (code != MPI_SUCCESS) break;
      MPI_Cart_coords(grid, rank, 2, there);
      MPI_Cart_shift(grid, 0, 1, &up, &down);
      if (down != (there[0] + 1) % dims[0] * dims[1] + there[1]) fail("neighbor", down, rank);
      code = MPI_Cart_sub(grid, remain, &made);
      MPI_Comm_free(&grid);
      break;
    }
    default:
      code = MPI_Comm_dup_with_info(from, MPI_INFO_NULL, &made);
  }
  if (code != MPI_SUCCESS) fail("making one", code, kind);
  return made;
}

int main(int argc, char** argv) {
  MPI_Comm within[depth_max + 1] = {MPI_COMM_WORLD};
  int depth = 0, steps = argc > 2 ? atoi(argv[2]) : 60;
  state = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN); /* it looks at codes */
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  for (int step = 0; step < steps; ++step) {
    int stays = below(2);
    unsigned long long before = state;
    MPI_Comm made = MPI_COMM_NULL;
    if (within[depth] != MPI_COMM_NULL) {
      made = make(within[depth]);
      if (made != MPI_COMM_NULL) {
        use_collectives(made);
        use_messages(made, step);
      }
    }
    state = before + 1; /* whoever is not in it draws the same from here */
    if (stays && depth < depth_max) {
      within[++depth] = made;
      continue;
    }
    if (made != MPI_COMM_NULL) MPI_Comm_free(&made);
    if (depth == depth_max)
      for (; depth > 0; --depth)
        if (within[depth] != MPI_COMM_NULL) MPI_Comm_free(&within[depth]);
  }
  for (; depth > 0; --depth)
    if (within[depth] != MPI_COMM_NULL) MPI_Comm_free(&within[depth]);
  use_collectives(MPI_COMM_WORLD);
  if (MPI_Barrier(MPI_COMM_WORLD) == MPI_SUCCESS) printf("%d is through\n", world_rank);
  MPI_Finalize();
  return 0;
}
