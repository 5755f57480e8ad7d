/* The usual two steps: the counts of all by an allgather, then their data by a call that takes
 * them; and a rank is lost in between, so that the memory for its count keeps what was there.
 *
 * counts_of_lost PLACES: the places of the data are `fixed`, or one behind the other as the counts
 * say (`summed`). Each survivor says how each call ended.
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ranks = 4, victim = 2, apart = 8, room = 200 };
static int rank;
static int counts[ranks], places[ranks], ones[ranks], own_places[ranks];
static int mine[ranks + 1], memory[room];

static void get_ready(int is_fixed, int is_first) {
  const int n = rank + 1;
  for (int i = 0; i < ranks; ++i) counts[i] = is_first ? 0 : rank % 2 ? -559038737 : 77;
  if (MPI_Allgather(&n, 1, MPI_INT, counts, 1, MPI_INT, MPI_COMM_WORLD) != MPI_SUCCESS) exit(5);
  for (int i = 0, sum = 0; i < ranks; ++i) {
    places[i] = is_fixed ? i * apart : sum;
    sum = (int)((unsigned)sum + (unsigned)counts[i]);
    ones[i] = i == victim && !is_first ? counts[i] : n;
    own_places[i] = i == victim && !is_first ? -1 : 0;
  }
  for (int i = 0; i <= ranks; ++i) mine[i] = 100 + rank;
  memset(memory, 0, sizeof memory);
}

static void say(const char* call, int code, int is_receiver) {
  int is_right = 1;
  for (int i = 0; i < ranks && code == MPI_SUCCESS && is_receiver; ++i)
    if (i != victim)
      for (int k = 0; k <= i; ++k) is_right &= memory[places[i] + k] == 100 + i;
  printf("%s %s\n", call, code != MPI_SUCCESS ? "fails" : is_right ? "is right" : "is WRONG");
  fflush(stdout);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int is_fixed = strcmp(argv[1], "fixed") == 0;
  MPI_Datatype types[ranks];
  for (int i = 0; i < ranks; ++i) types[i] = MPI_INT;
  get_ready(is_fixed, 1);
  if (rank == victim) raise(SIGKILL);
  MPI_Request request;
  get_ready(is_fixed, 0);
  const int n = rank + 1;
  const MPI_Comm comm = MPI_COMM_WORLD;
  say("allgatherv", MPI_Allgatherv(mine, n, MPI_INT, memory, counts, places, MPI_INT, comm), 1);
  get_ready(is_fixed, 0);
  MPI_Iallgatherv(mine, n, MPI_INT, memory, counts, places, MPI_INT, comm, &request);
  say("iallgatherv", MPI_Wait(&request, MPI_STATUS_IGNORE), 1);
  get_ready(is_fixed, 0);
  say("alltoallv",
      MPI_Alltoallv(mine, ones, own_places, MPI_INT, memory, counts, places, MPI_INT, comm), 1);
  get_ready(is_fixed, 0);
  types[victim] = MPI_DATATYPE_NULL;
  for (int i = 0; i < ranks; ++i) places[i] = i * apart * (int)sizeof(int);
  int code = MPI_Alltoallw(mine, ones, own_places, types, memory, counts, places, types, comm);
  for (int i = 0; i < ranks; ++i) places[i] = i * apart;
  say("alltoallw", code, 1);
  get_ready(is_fixed, 0);
  say("gatherv", MPI_Gatherv(mine, n, MPI_INT, memory, counts, places, MPI_INT, 1, comm),
      rank == 1);
  get_ready(is_fixed, 0);
  int all[room];
  for (int i = 0; i < ranks; ++i)
    for (int k = 0; i != victim && places[i] >= 0 && k <= i; ++k) all[places[i] + k] = 100 + i;
  code = MPI_Scatterv(all, counts, places, MPI_INT, memory, n, MPI_INT, 1, comm);
  for (int i = 0; i < n; ++i) memory[i] -= 100 + rank;
  say("scatterv", code == MPI_SUCCESS && memory[0] + memory[n - 1] != 0 ? -1 : code, 0);
  MPI_Finalize();
  return 0;
}
