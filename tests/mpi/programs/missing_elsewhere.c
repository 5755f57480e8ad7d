/* Missing values in reduce-scatters, scans and gathers, in their blocking and non-blocking forms.
 *
 *   missing_elsewhere nothing | value | last | callback
 *
 * Of four ranks rank 1 dies; `value` is 1000, and so is what the callback writes. In gathers nobody
 * knows what a rank gave last: what is in its place stays. 1 if anything is wrong. */
#include <mpi.h>
#include <resprout/resprout.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

enum { ranks = 4, lost = 1, other = 1000, untouched = -5 };

static const char* mode;
static int own, is_lost, mistakes;

static int is_mode(const char* word) { return strcmp(mode, word) == 0; }

static int given(int rank, int element) { return 10 * (rank + 1) + element; }

/* 0: nothing. */
static int part(int rank, int element) {
  if (rank != lost || !is_lost || is_mode("last")) return given(rank, element);
  return is_mode("nothing") ? 0 : other;
}

static int sum(int end, int element) {
  int all = 0;
  for (int rank = 0; rank < end; ++rank) all += part(rank, element);
  return all;
}

static void check(const char* what, int got, int wanted) {
  if (got == wanted) return;
  printf("rank %d: %s gives %d, not %d\n", own, what, got, wanted);
  ++mistakes;
}

static void check_gathered(const char* what, const int* got) {
  for (int rank = 0; rank < ranks; ++rank) {
    const int is_stood_in = is_mode("value") || is_mode("callback");
    const int of_lost = is_stood_in ? other : untouched;
    check(what, got[rank], rank == lost && is_lost ? of_lost : given(rank, 0));
  }
}

static int stand_in(MPI_Comm comm, int rank, void* contribution, int count, MPI_Datatype datatype,
                    void* extra) {
  (void)comm;
  if (rank != lost || datatype != MPI_INT || extra != NULL) return 0;
  for (int i = 0; i < count; ++i) ((int*)contribution)[i] = other;
  return 1;
}

static void run(int is_blocking) {
  const MPI_Comm comm = MPI_COMM_WORLD;
  const int counts[ranks] = {1, 1, 1, 1};
  int from[ranks], to[6] = {untouched, untouched, untouched, untouched, untouched, untouched};
  int gathered[ranks] = {untouched, untouched, untouched, untouched};
  int all_gathered[ranks] = {untouched, untouched, untouched, untouched};
  MPI_Request requests[6];
  for (int i = 0; i < ranks; ++i) from[i] = given(own, i);
  if (is_blocking) {
    MPI_Reduce_scatter(from, to, counts, MPI_INT, MPI_SUM, comm);
    MPI_Reduce_scatter_block(from, to + 1, 1, MPI_INT, MPI_SUM, comm);
    MPI_Scan(from, to + 2, 1, MPI_INT, MPI_SUM, comm);
    MPI_Exscan(from, to + 3, 1, MPI_INT, MPI_SUM, comm);
    MPI_Gather(from, 1, MPI_INT, gathered, 1, MPI_INT, 0, comm);
    MPI_Allgather(from, 1, MPI_INT, all_gathered, 1, MPI_INT, comm);
  } else {
    MPI_Ireduce_scatter(from, to, counts, MPI_INT, MPI_SUM, comm, &requests[0]);
    MPI_Ireduce_scatter_block(from, to + 1, 1, MPI_INT, MPI_SUM, comm, &requests[1]);
    MPI_Iscan(from, to + 2, 1, MPI_INT, MPI_SUM, comm, &requests[2]);
    MPI_Iexscan(from, to + 3, 1, MPI_INT, MPI_SUM, comm, &requests[3]);
    MPI_Igather(from, 1, MPI_INT, gathered, 1, MPI_INT, 0, comm, &requests[4]);
    MPI_Iallgather(from, 1, MPI_INT, all_gathered, 1, MPI_INT, comm, &requests[5]);
    MPI_Waitall(6, requests, MPI_STATUSES_IGNORE);
  }
  check("reduce_scatter", to[0], sum(ranks, own));
  check("reduce_scatter_block", to[1], sum(ranks, own));
  check("scan", to[2], sum(own + 1, 0));
  if (own > 0) check("exscan", to[3], sum(own, 0));
  if (own == 0) check_gathered("gather", gathered);
  check_gathered("allgather", all_gathered);
}

int main(int argc, char** argv) {
  mode = argc > 1 ? argv[1] : "";
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &own);
  if (is_mode("callback")) resprout_on_missing(MPI_COMM_WORLD, stand_in, NULL);
  run(1);
  run(0);
  MPI_Barrier(MPI_COMM_WORLD);
  if (own == lost) raise(SIGKILL);
  MPI_Barrier(MPI_COMM_WORLD);
  is_lost = 1;
  run(1);
  run(0);
  MPI_Finalize();
  return mistakes != 0;
}
