/* Every neighborhood collective in every form, on a grid, a graph and distributed graphs of 3
 * ranks, once each. Says nothing if all that comes is right. `neighborhoods corrupt`: in plane 1
 * rank 1 gives one wrong number to each. `neighborhoods lost`: rank 3 is lost in the first barrier,
 * before there is any of them, and rank 2 in the second one, when all have been used; then they are
 * used again, by who lives.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ranks = 3, topologies = 4, blocks_max = 4, kinds = 5, forms = 3, untouched = -100 };

static int rank, replica, is_corrupt, lost = -1;
static MPI_Comm all_ranks;

/* Who is next to this rank: of what comes, also which of the sender's blocks it is. */
typedef struct {
  const char* name;
  MPI_Comm comm;
  int sources, source[blocks_max], block[blocks_max];
  int destinations, destination[blocks_max];
} Topology;

static Topology grid(void) {
  const int dims[2] = {1, ranks}, periods[2] = {0, 1};
  const int left = (rank + 2) % 3, right = (rank + 1) % 3, none = MPI_PROC_NULL;
  Topology t = {"grid",
                MPI_COMM_NULL,
                4,
                {none, none, left, right},
                {0, 0, 3, 2},
                4,
                {none, none, left, right}};
  MPI_Cart_create(all_ranks, 2, dims, periods, 0, &t.comm);
  return t;
}

/* Everybody beside everybody, upwards. */
static Topology graph(void) {
  const int last[ranks] = {2, 4, 6}, edges[6] = {1, 2, 0, 2, 0, 1};
  const int low = rank == 0 ? 1 : 0, high = rank == 2 ? 1 : 2, own = rank > 0 ? rank - 1 : 0;
  Topology t = {"graph", MPI_COMM_NULL, 2, {low, high}, {own, rank > 1 ? 1 : rank}, 2, {low, high}};
  if (rank == 0) t.block[0] = t.block[1] = 0;
  MPI_Graph_create(all_ranks, ranks, last, edges, 0, &t.comm);
  return t;
}

/* A ring, and an arrow from 0 to 2. */
static Topology distributed_graph(void) {
  const Topology all[ranks] = {{"", MPI_COMM_NULL, 1, {2}, {0}, 2, {1, 2}},
                               {"", MPI_COMM_NULL, 1, {0}, {0}, 1, {2}},
                               {"", MPI_COMM_NULL, 2, {1, 0}, {0, 1}, 1, {0}}};
  Topology t = all[rank];
  const int weights[blocks_max] = {1, 1, 1, 1};
  t.name = "distributed graph";
  MPI_Dist_graph_create_adjacent(all_ranks, t.sources, t.source, weights, t.destinations,
                                 t.destination, weights, MPI_INFO_NULL, 0, &t.comm);
  return t;
}

/* A ring, each arrow of which is named by the rank before its beginning. */
static Topology named_by_others(void) {
  const int before = (rank + 2) % 3, next = (rank + 1) % 3, one = 1;
  Topology t = {"graph named by others", MPI_COMM_NULL, 1, {before}, {0}, 1, {next}};
  MPI_Dist_graph_create(all_ranks, 1, &next, &one, &before, &one, MPI_INFO_NULL, 0, &t.comm);
  return t;
}

static int value(int of_rank, int block) { return 1000 * of_rank + block + 7; }

static void call(MPI_Comm comm, int kind, int form, int* in, int* out) {
  static const int ones[4] = {1, 1, 1, 1}, places[4] = {0, 1, 2, 3};
  static const MPI_Aint at[4] = {0, 4, 8, 12};
  const MPI_Datatype n = MPI_INT, types[4] = {n, n, n, n};
  const MPI_Info info = MPI_INFO_NULL;
  MPI_Request r = MPI_REQUEST_NULL;
  switch (forms * kind + form) {
    case 0:
      MPI_Neighbor_allgather(in, 1, n, out, 1, n, comm);
      break;
    case 1:
      MPI_Ineighbor_allgather(in, 1, n, out, 1, n, comm, &r);
      break;
    case 2:
      MPI_Neighbor_allgather_init(in, 1, n, out, 1, n, comm, info, &r);
      break;
    case 3:
      MPI_Neighbor_allgatherv(in, 1, n, out, ones, places, n, comm);
      break;
    case 4:
      MPI_Ineighbor_allgatherv(in, 1, n, out, ones, places, n, comm, &r);
      break;
    case 5:
      MPI_Neighbor_allgatherv_init(in, 1, n, out, ones, places, n, comm, info, &r);
      break;
    case 6:
      MPI_Neighbor_alltoall(in, 1, n, out, 1, n, comm);
      break;
    case 7:
      MPI_Ineighbor_alltoall(in, 1, n, out, 1, n, comm, &r);
      break;
    case 8:
      MPI_Neighbor_alltoall_init(in, 1, n, out, 1, n, comm, info, &r);
      break;
    case 9:
      MPI_Neighbor_alltoallv(in, ones, places, n, out, ones, places, n, comm);
      break;
    case 10:
      MPI_Ineighbor_alltoallv(in, ones, places, n, out, ones, places, n, comm, &r);
      break;
    case 11:
      MPI_Neighbor_alltoallv_init(in, ones, places, n, out, ones, places, n, comm, info, &r);
      break;
    case 12:
      MPI_Neighbor_alltoallw(in, ones, at, types, out, ones, at, types, comm);
      break;
    case 13:
      MPI_Ineighbor_alltoallw(in, ones, at, types, out, ones, at, types, comm, &r);
      break;
    case 14:
      MPI_Neighbor_alltoallw_init(in, ones, at, types, out, ones, at, types, comm, info, &r);
      break;
  }
  if (form == 2) MPI_Start(&r);
  if (form > 0) MPI_Wait(&r, MPI_STATUS_IGNORE);
  if (form == 2) MPI_Request_free(&r);
}

/* What belongs to no neighbor is another thing in each plane, and stays it. */
static void run(const Topology* t, int kind, int form) {
  int in[blocks_max], out[blocks_max], last = 0;
  const int is_allgather = kind < 2;
  for (int i = 0; i < blocks_max; ++i) in[i] = out[i] = untouched - replica;
  for (int i = 0; i < t->destinations; ++i)
    if (t->destination[i] != MPI_PROC_NULL) in[last = i] = value(rank, i);
  if (is_allgather) in[last = 0] = value(rank, 0);
  if (is_corrupt && replica == 1 && rank == 1) in[last] ^= 1 << 20;
  call(t->comm, kind, form, in, out);
  for (int i = 0; i < blocks_max; ++i) {
    const int is_block = i < t->sources && t->source[i] != MPI_PROC_NULL && t->source[i] != lost;
    const int expected =
        is_block ? value(t->source[i], is_allgather ? 0 : t->block[i]) : untouched - replica;
    if (out[i] != expected && !is_corrupt)
      printf("rank %d, %s, kind %d, form %d: block %d is %d, not %d\n", rank, t->name, kind, form,
             i, out[i], expected);
  }
}

static void run_all(const Topology* all) {
  for (int i = 0; i < topologies; ++i)
    for (int kind = 0; kind < kinds; ++kind)
      for (int form = 0; form < forms; ++form) run(&all[i], kind, form);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const char* plane = getenv("RESPROUT_REPLICA");
  replica = plane != NULL ? atoi(plane) : 0;
  is_corrupt = argc > 1 && strcmp(argv[1], "corrupt") == 0;
  const int loses = argc > 1 && strcmp(argv[1], "lost") == 0;
  all_ranks = MPI_COMM_WORLD;
  if (loses) {
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &all_ranks);
  }
  Topology all[topologies] = {grid(), graph(), distributed_graph(), named_by_others()};
  run_all(all);
  if (loses) {
    MPI_Barrier(MPI_COMM_WORLD);
    lost = 2;
    run_all(all);
    MPI_Comm_free(&all_ranks);
  }
  for (int i = 0; i < topologies; ++i) MPI_Comm_free(&all[i].comm);
  MPI_Finalize();
  return 0;
}
