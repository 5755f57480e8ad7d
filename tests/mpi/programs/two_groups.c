/* Inter-communicators that are made after a loss, of all who live.
 *
 *   two_groups VICTIM BRIDGE
 *
 * VICTIM dies; -1: nobody. The others are two groups, those with even and those with odd numbers.
 * BRIDGE: "world", what the leaders find each other on; "shrunken", likewise; or "half", where one
 * group leaves out its last member: all get MPI_ERR_COMM. Each rank says "rank N: SUM", of
 * what all in the merged communicator give: their numbers, from 1. */
#include <mpi.h>

#include <mpi-ext.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size;

static void check(int is_right, const char* what) {
  if (is_right) return;
  printf("rank %d: wrong: %s\n", rank, what);
  fflush(stdout);
  MPI_Abort(MPI_COMM_WORLD, 3);
}

/* Those of one half in it have what those of the other half give. */
static void use(MPI_Comm inter) {
  int mine, theirs, given = rank + 1, got = 0, local;
  MPI_Comm_rank(inter, &local);
  MPI_Comm_size(inter, &mine);
  MPI_Comm_remote_size(inter, &theirs);
  if (local < theirs)
    check(MPI_Sendrecv(&given, 1, MPI_INT, local, 1, &got, 1, MPI_INT, local, 1, inter,
                       MPI_STATUS_IGNORE) == MPI_SUCCESS,
          "a message to the other group");
  check(local >= theirs || got % 2 == rank % 2, "who is in the other group");
  int sum = 0, all = 0;
  MPI_Allreduce(&given, &sum, 1, MPI_INT, MPI_SUM, inter);
  MPI_Comm merged;
  check(MPI_Intercomm_merge(inter, rank % 2, &merged) == MPI_SUCCESS, "a merge");
  MPI_Allreduce(&given, &all, 1, MPI_INT, MPI_SUM, merged);
  check(sum < all, "a sum of the other group");
  MPI_Comm_free(&merged);
  printf("rank %d: %d\n", rank, all);
  fflush(stdout);
}

/* The lowest rank of each group that lives. */
static int leader_of(MPI_Comm bridge, int group, int victim) {
  MPI_Group of_world, of_bridge;
  int first = group, found;
  if (first == victim) first += 2;
  MPI_Comm_group(MPI_COMM_WORLD, &of_world);
  MPI_Comm_group(bridge, &of_bridge);
  MPI_Group_translate_ranks(of_world, 1, &first, of_bridge, &found);
  MPI_Group_free(&of_world);
  MPI_Group_free(&of_bridge);
  return found;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int victim = atoi(argv[1]);
  const int is_half = strcmp(argv[2], "half") == 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == victim) kill(getpid(), SIGKILL);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Comm bridge = MPI_COMM_WORLD, group, inter = MPI_COMM_NULL;
  if (strcmp(argv[2], "shrunken") == 0) MPIX_Comm_shrink(MPI_COMM_WORLD, &bridge);
  const int is_left_out = is_half && rank == size - 1;
  MPI_Comm_split(bridge, is_left_out ? MPI_UNDEFINED : rank % 2, rank, &group);
  if (!is_left_out) {
    const int other = leader_of(bridge, 1 - rank % 2, victim);
    const int code = MPI_Intercomm_create(group, 0, bridge, other, 9, &inter);
    int class;
    MPI_Error_class(code, &class);
    check(class == (is_half ? MPI_ERR_COMM : MPI_SUCCESS), "what comes of it");
    if (!is_half) use(inter);
    if (!is_half) MPI_Comm_free(&inter);
    MPI_Comm_free(&group);
  }
  if (bridge != MPI_COMM_WORLD) MPI_Comm_free(&bridge);
  MPI_Finalize();
  return 0;
}
