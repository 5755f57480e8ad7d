/* Makes several communicators at once, each of another parent, and little else, while one rank is
 * killed by the clock: most likely inside of one or more of the makings.
 *
 *   makings_at_once MILLISECONDS threads|several|one      to be run with --on-loss continue
 *
 * With `threads` three threads make them; with `several` one thread does, by MPI_Comm_idup; with
 * `one` it is only one at a time. The parents are all of the world, a half of it, and all of it.
 * So long. What is made has the same sum at all its members. Each survivor says that it is through.
 */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PARENTS = 3 };

static int rank, size;
static double end;
static MPI_Comm parents[PARENTS];

static void check(int is_right, const char* what) {
  if (is_right) return;
  fprintf(stderr, "WRONG: rank %d: %s\n", rank, what);
  fflush(stderr);
  _exit(1);
}

static MPI_Comm make(MPI_Comm parent, int kind) {
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Group all;
  MPI_Request request;
  int code = MPI_SUCCESS;
  switch (kind) {
    case 0:
      code = MPI_Comm_dup(parent, &made);
      break;
    case 1:
      MPI_Comm_group(parent, &all);
      code = MPI_Comm_create_group(parent, all, 0, &made);
      MPI_Group_free(&all);
      break;
    case 2:
      code = MPI_Comm_split(parent, 0, -rank, &made);
      break;
    default:
      code = MPI_Comm_idup(parent, &made, &request);
      if (code == MPI_SUCCESS) code = MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  check(code == MPI_SUCCESS && made != MPI_COMM_NULL, "it is made");
  return made;
}

static void use_and_free(MPI_Comm comm) {
  int one = 1, sums[2] = {0, 0};
  check(MPI_Allreduce(&one, &sums[0], 1, MPI_INT, MPI_SUM, comm) == MPI_SUCCESS, "a sum");
  sums[1] = -sums[0];
  check(MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_INT, MPI_MAX, comm) == MPI_SUCCESS, "a maximum");
  check(sums[0] == -sums[1], "the same sum everywhere");
  MPI_Comm_free(&comm);
}

/* The same answer at all members of the parent. */
static int is_over(MPI_Comm parent) {
  int mine = MPI_Wtime() >= end, any = 0;
  check(MPI_Allreduce(&mine, &any, 1, MPI_INT, MPI_MAX, parent) == MPI_SUCCESS, "an end");
  return any;
}

static void* one_after_the_other(void* parent) {
  MPI_Comm of = *(MPI_Comm*)parent;
  for (int i = 0; i % 4 != 0 || !is_over(of); ++i) use_and_free(make(of, i % 4));
  return NULL;
}

static void in_threads(void) {
  pthread_t threads[PARENTS];
  for (int i = 0; i < PARENTS; ++i)
    pthread_create(&threads[i], NULL, one_after_the_other, &parents[i]);
  for (int i = 0; i < PARENTS; ++i) pthread_join(threads[i], NULL);
}

/* In turns waited for and looked at. */
static void in_requests(int count) {
  for (int i = 0; i % 4 != 0 || !is_over(MPI_COMM_WORLD); ++i) {
    MPI_Comm made[PARENTS];
    MPI_Request requests[PARENTS];
    int are_made = 0, code = MPI_SUCCESS;
    for (int k = 0; k < count; ++k)
      check(MPI_Comm_idup(parents[k], &made[k], &requests[k]) == MPI_SUCCESS, "it is started");
    if (i % 2 == 0) code = MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
    while (i % 2 != 0 && code == MPI_SUCCESS && !are_made)
      code = MPI_Testall(count, requests, &are_made, MPI_STATUSES_IGNORE);
    check(code == MPI_SUCCESS, "all are made");
    for (int k = 0; k < count; ++k) use_and_free(made[k]);
  }
}

int main(int argc, char** argv) {
  int level;
  const char* how = argc > 2 ? argv[2] : "";
  const double milliseconds = argc > 1 ? atof(argv[1]) : 100;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  parents[0] = MPI_COMM_WORLD;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &parents[1]);
  MPI_Comm_dup(MPI_COMM_WORLD, &parents[2]);
  end = MPI_Wtime() + milliseconds / 1e3;
  if (strcmp(how, "threads") == 0)
    in_threads();
  else
    in_requests(strcmp(how, "one") == 0 ? 1 : PARENTS);
  printf("%d is through\n", rank);
  MPI_Finalize();
  return 0;
}
