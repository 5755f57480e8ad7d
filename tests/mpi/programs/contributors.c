/* Whom resprout_contributors names after each kind of collective, before and after a loss.
 *
 *   contributors
 *
 * Rank 2 of five dies. Each rank looks at the world, a copy of it, a communicator in which ranks
 * stand the other way round, and a copy made after the loss. 1 if anything is wrong. */
#include <mpi.h>
#include <resprout/resprout.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

enum { ranks = 5, victim = 2, large = 1 << 18 };

static int rank, wrong;
static char in[large * sizeof(long)], out[large * sizeof(long)];

/* Of ranks in `comm`. */
static unsigned named(MPI_Comm comm) {
  MPI_Group group, all;
  int size, member;
  unsigned mask = 0;
  if (resprout_contributors(comm, &group) != MPI_SUCCESS) return ~0u;
  MPI_Comm_group(comm, &all);
  MPI_Group_size(group, &size);
  for (int i = 0; i < size; ++i) {
    MPI_Group_translate_ranks(group, 1, &i, all, &member);
    mask |= 1u << member;
  }
  MPI_Group_free(&all);
  MPI_Group_free(&group);
  return mask;
}

static void check(const char* call, MPI_Comm comm, unsigned wanted) {
  const unsigned got = named(comm);
  if (got == wanted) return;
  wrong = 1;
  printf("%d: %s: %x, not %x\n", rank, call, got, wanted);
}

/* A broadcast behind another call shows that it is not that one's contributors that are named. */
static void look_at_small(MPI_Comm comm, unsigned living, int root) {
  long one = 1, sum = 0;
  for (int i = 0; i < 20; ++i) { /* shared slots open after some */
    MPI_Allreduce(&one, &sum, 1, MPI_LONG, MPI_SUM, comm);
    check("allreduce", comm, living);
    MPI_Bcast(&sum, 1, MPI_LONG, root, comm);
    check("bcast", comm, 1u << root);
  }
  MPI_Barrier(comm);
  check("barrier", comm, living);
  MPI_Bcast(&sum, 0, MPI_LONG, root, comm);
  check("bcast of nothing", comm, 1u << root);
  MPI_Allreduce(&one, &sum, 0, MPI_LONG, MPI_SUM, comm);
  check("allreduce of nothing", comm, living);
  MPI_Scatter(in, 1, MPI_LONG, out, 1, MPI_LONG, root, comm);
  check("scatter", comm, 1u << root);
  MPI_Alltoall(in, 1, MPI_LONG, out, 1, MPI_LONG, comm);
  check("alltoall", comm, living);
  MPI_Bcast(&sum, 1, MPI_LONG, root, comm);
  MPI_Scan(&one, &sum, 1, MPI_LONG, MPI_SUM, comm);
  check("scan", comm, living);
}

static void look_at_large(MPI_Comm comm, unsigned living, int root) {
  MPI_Bcast(in, large, MPI_LONG, root, comm);
  check("large bcast", comm, 1u << root);
  MPI_Allreduce(in, out, large, MPI_LONG, MPI_SUM, comm);
  check("large allreduce", comm, living);
  MPI_Bcast(in, large, MPI_LONG, root, comm);
  MPI_Reduce(in, out, large, MPI_LONG, MPI_SUM, root, comm);
  check("large reduce", comm, living);
  MPI_Bcast(in, large, MPI_LONG, root, comm);
  MPI_Alltoall(in, large / ranks, MPI_LONG, out, large / ranks, MPI_LONG, comm);
  check("large alltoall", comm, living);
}

static void look_at_started(MPI_Comm comm, unsigned living, int root) {
  MPI_Request request;
  long sum = 0;
  MPI_Ibcast(&sum, 1, MPI_LONG, root, comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  check("ibcast", comm, 1u << root);
  MPI_Ibarrier(comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  check("ibarrier", comm, living);
  MPI_Bcast_init(&sum, 1, MPI_LONG, root, comm, MPI_INFO_NULL, &request);
  check("bcast_init", comm, living);
  for (int i = 0; i < 2; ++i) {
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check("a started bcast", comm, 1u << root);
    MPI_Barrier(comm);
    check("barrier", comm, living);
  }
  MPI_Request_free(&request);
}

static void look_at(MPI_Comm comm, unsigned living, int root) {
  look_at_small(comm, living, root);
  look_at_large(comm, living, root);
  look_at_started(comm, living, root);
}

/* What needs the dead has no contributors. */
static void look_at_the_dead(void) {
  MPI_Request request;
  long sum = 0;
  if (MPI_Bcast(&sum, 1, MPI_LONG, victim, MPI_COMM_WORLD) == MPI_SUCCESS) wrong = 1;
  check("bcast by the dead", MPI_COMM_WORLD, 0);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Ibcast(&sum, 1, MPI_LONG, victim, MPI_COMM_WORLD, &request);
  if (MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS) wrong = 1;
  check("ibcast by the dead", MPI_COMM_WORLD, 0);
}

int main(int argc, char** argv) {
  const unsigned all = (1u << ranks) - 1, living = all & ~(1u << victim);
  MPI_Comm copy, reversed, late;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Comm_split(MPI_COMM_WORLD, 0, ranks - rank, &reversed);
  check("a new communicator", copy, 0);
  look_at(MPI_COMM_WORLD, all, 1);
  look_at(copy, all, 4);
  if (rank == victim) kill(getpid(), SIGKILL);
  MPI_Barrier(MPI_COMM_WORLD);
  check("barrier", MPI_COMM_WORLD, living);
  look_at(MPI_COMM_WORLD, living, 1);
  look_at(copy, living, 0);
  look_at(reversed, living, 3); /* 2 stands in the middle */
  look_at_the_dead();
  MPI_Comm_dup(copy, &late);
  check("a communicator made after the loss", late, 0);
  look_at(late, living, 4);
  MPI_Finalize();
  return wrong;
}
