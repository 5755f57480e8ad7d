/* Missing values while what they are for changes. Rank 1 of four dies.
 *
 *   missing_handles freed | pending
 *
 * `freed`, with --missing last: an operator and a datatype are freed and others made, which MPI may
 * give the same handles. What was given to the old ones stands in for nothing in the new ones.
 * `pending`: what the program says of missing values while a reduction is under way is for later
 * ones, also on a rank that comes to the end of that one before it says so.
 * 1 if anything is wrong. */
#include <mpi.h>
#include <resprout/resprout.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { few = 4, many = 64 };

static int rank, wrong;

static void check(const char* what, int got, int wanted) {
  if (got == wanted) return;
  wrong = 1;
  printf("%d: %s: %d, not %d\n", rank, what, got, wanted);
}

static void die_here(void) {
  if (rank == 1) kill(getpid(), SIGKILL);
}

static void least(void* in, void* inout, int* count, MPI_Datatype* datatype) {
  int size;
  MPI_Type_size(*datatype, &size);
  const unsigned char* left = in;
  unsigned char* right = inout;
  for (int i = 0; i < size * *count; ++i)
    if (left[i] < right[i]) right[i] = left[i];
}

static void largest(void* in, void* inout, int* count, MPI_Datatype* datatype) {
  int size;
  MPI_Type_size(*datatype, &size);
  const unsigned char* left = in;
  unsigned char* right = inout;
  for (int i = 0; i < size * *count; ++i)
    if (left[i] > right[i]) right[i] = left[i];
}

static int reduced(MPI_User_function* function, int mine, int bytes) {
  unsigned char given[many], got[many] = {0};
  MPI_Datatype datatype;
  MPI_Op op;
  memset(given, mine, sizeof given);
  MPI_Type_contiguous(bytes, MPI_BYTE, &datatype);
  MPI_Type_commit(&datatype);
  MPI_Op_create(function, 1, &op);
  MPI_Allreduce(given, got, 1, datatype, op, MPI_COMM_WORLD);
  MPI_Op_free(&op);
  MPI_Type_free(&datatype);
  check("the last element", got[bytes - 1], got[0]);
  return got[0];
}

static void look_at_freed(void) {
  check("the largest", reduced(largest, 10 + rank, few), 13);
  check("the least", reduced(least, 10 - rank, few), 7);
  check("the least", reduced(least, rank == 1 ? 1 : 10, few), 1);
  die_here();
  check("the least without rank 1", reduced(least, 20, few), 20);
  check("the largest without rank 1", reduced(largest, 30, few), 30);
  check("the largest of many", reduced(largest, 40, many), 40);
}

static int stand_in(MPI_Comm comm, int missing, void* contribution, int count,
                    MPI_Datatype datatype, void* extra) {
  (void)comm, (void)missing, (void)datatype;
  for (int i = 0; i < count; ++i) ((int*)contribution)[i] = *(int*)extra;
  return 1;
}

static void look_at_pending(void) {
  int hundred = 100, thousand = 1000, one = 1, sum = 0, is_over = 0;
  MPI_Request request;
  resprout_on_missing(MPI_COMM_WORLD, stand_in, &hundred);
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  check("with everybody", sum, 4);
  die_here();
  for (int i = 0; i < 3; ++i) {
    resprout_on_missing(MPI_COMM_WORLD, stand_in, &hundred);
    MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    /* Rank 0 may have its result already, the others will see it later. */
    while (rank == 0 && !is_over) MPI_Test(&request, &is_over, MPI_STATUS_IGNORE);
    if (i == 0) resprout_on_missing(MPI_COMM_WORLD, NULL, NULL);
    if (i == 1) resprout_on_missing(MPI_COMM_WORLD, stand_in, &thousand);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    is_over = 0;
    check("as it was when it began", sum, 103);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    check("as it is now", sum, i == 0 ? 3 : i == 1 ? 1003 : 103);
  }
}

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (strcmp(argv[1], "freed") == 0)
    look_at_freed();
  else
    look_at_pending();
  MPI_Finalize();
  return wrong;
}
