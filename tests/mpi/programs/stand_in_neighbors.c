/* Neighborhood collectives in all forms on grids and graphs, while siblings stand in for lost
   ranks. What is given follows from what each rank has received before.

   stand_in_neighbors STEPS [FOLDER]: as stand_in_made. */
#include "stand_in.h"

enum { places = 4, blocks_max = 16, most = 3 };

static MPI_Comm kept[places];

/* Rings of three or more, and borders. */
static MPI_Comm grid(int step) {
  int dims[2] = {size % 3 == 0 ? 3 : 1, 0}, periods[2] = {0, 0};
  MPI_Comm made;
  MPI_Dims_create(size, 2, dims);
  for (int i = 0; i < 2; ++i) periods[i] = dims[i] > 2 && (step + i) % 3 != 0;
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &made);
  return made;
}

/* Rings of two, in which the same process is below and above, or of one. Blocks change places
   there; in Open MPI they do in blocking calls only. */
static MPI_Comm pairs(void) {
  int dims[2] = {size % 2 == 0 ? 2 : 1, 0}, periods[2] = {1, 0};
  MPI_Comm made;
  MPI_Dims_create(size, 2, dims);
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &made);
  return made;
}

/* A ring, whose last one is twice beside the first. */
static MPI_Comm graph(void) {
  int index[ranks_max], edges[2 * ranks_max + 2], count = 0;
  for (int i = 0; i < size; ++i) {
    edges[count++] = (i + 1) % size;
    edges[count++] = (i + size - 1) % size;
    if (i == 0) edges[count++] = size - 1;
    if (i == size - 1) edges[count++] = 0;
    index[i] = count;
  }
  MPI_Comm made;
  MPI_Graph_create(MPI_COMM_WORLD, size, index, edges, 0, &made);
  return made;
}

/* Each has two arrows to the next one and one to the one after that. */
static MPI_Comm arrows(void) {
  const int before = (rank + size - 1) % size, first = (rank + 2 * size - 2) % size;
  const int next = (rank + 1) % size, last = (rank + 2) % size;
  const int sources[] = {first, before, before}, destinations[] = {next, last, next};
  const int weights[] = {1, 2, 3};
  MPI_Comm made;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 3, sources, weights, 3, destinations, weights,
                                 MPI_INFO_NULL, 0, &made);
  return made;
}

/* One arrow to each, which the one before its beginning names. */
static MPI_Comm named_by_others(int step) {
  const int node = (rank + 1) % size, degree = 1, target = (rank + 2) % size, weight = step;
  MPI_Comm made;
  MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &node, &degree, &target, &weight, MPI_INFO_NULL, 0,
                        &made);
  return made;
}

/* A graph without edges has weights if all say so. */
static void name_nothing(void) {
  const int weight = 1;
  for (int form = 0; form < 3; ++form) {
    const int* weights = form == 0 ? &weight : form == 1 ? MPI_WEIGHTS_EMPTY : MPI_UNWEIGHTED;
    int in, out, is_weighted;
    MPI_Comm made;
    MPI_Dist_graph_create(MPI_COMM_WORLD, 0, NULL, NULL, NULL, weights, MPI_INFO_NULL, 0, &made);
    MPI_Dist_graph_neighbors_count(made, &in, &out, &is_weighted);
    const int words[] = {in, out, is_weighted != 0};
    mix_all(words, 3);
    if (is_weighted != (form < 2)) {
      fprintf(stderr, "WRONG on rank %d: the weights of nothing\n", rank);
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Comm_free(&made);
  }
}

/* The next one waits for a message that is sent behind the start of its making. */
static MPI_Comm duplicate(MPI_Comm of, int step) {
  int word = part(step, 2), heard = 0;
  MPI_Request request;
  MPI_Comm made;
  if (rank > 0) MPI_Recv(&heard, 1, MPI_INT, rank - 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Comm_idup(of, &made, &request);
  if (rank + 1 < size) MPI_Send(&word, 1, MPI_INT, rank + 1, 2, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  mix_all(&heard, 1);
  return made;
}

static MPI_Comm make_one_of_arrows(int step) {
  MPI_Comm made;
  switch (step / places % places) {
    case 0:
      return arrows();
    case 1:
      return duplicate(kept[3], step);
    case 2:
      return named_by_others(step);
    default:
      MPI_Comm_dup(kept[step % 2 == 0 ? 3 : 1], &made);
      return made;
  }
}

static MPI_Comm make(int step) {
  switch (step % places) {
    case 1:
      return graph();
    case 2:
      return pairs();
    case 3:
      return make_one_of_arrows(step);
    default:
      return grid(step);
  }
}

/* Blocks from and to this rank. */
static void count(MPI_Comm comm, int* in, int* out) {
  int kind, own, weighted;
  MPI_Topo_test(comm, &kind);
  MPI_Comm_rank(comm, &own);
  if (kind == MPI_CART) {
    MPI_Cartdim_get(comm, in);
    *in *= 2;
    *out = *in;
  } else if (kind == MPI_GRAPH) {
    MPI_Graph_neighbors_count(comm, own, in);
    *out = *in;
  } else {
    MPI_Dist_graph_neighbors_count(comm, in, out, &weighted);
    mix_all(&weighted, 1);
  }
}

/* Numbers to give, in blocks of `most`, and room for those that come; how much of each block. */
static int out[blocks_max * most], in[blocks_max * most], some[blocks_max], places_of[blocks_max];
static MPI_Aint offsets[blocks_max];
static MPI_Datatype types[blocks_max];

static void fill(int step, int length) {
  for (int i = 0; i < blocks_max * most; ++i) {
    out[i] = part(step, i);
    in[i] = -1;
  }
  for (int i = 0; i < blocks_max; ++i) {
    some[i] = length;
    places_of[i] = i * most;
    offsets[i] = (MPI_Aint)((size_t)(i * most) * sizeof(int));
    types[i] = MPI_INT;
  }
}

#define V_OUT out, some, places_of, MPI_INT
#define V_IN in, some, places_of, MPI_INT
#define W_OUT out, some, offsets, types
#define W_IN in, some, offsets, types

static void blocking(MPI_Comm comm, int which, int length) {
  switch (which) {
    case 0:
      MPI_Neighbor_allgather(out, length, MPI_INT, in, length, MPI_INT, comm);
      break;
    case 1:
      MPI_Neighbor_allgatherv(out, length, MPI_INT, V_IN, comm);
      break;
    case 2:
      MPI_Neighbor_alltoall(out, length, MPI_INT, in, length, MPI_INT, comm);
      break;
    case 3:
      MPI_Neighbor_alltoallv(V_OUT, V_IN, comm);
      break;
    default:
      MPI_Neighbor_alltoallw(W_OUT, W_IN, comm);
  }
}

static MPI_Request started(MPI_Comm comm, int which, int length) {
  MPI_Request request = MPI_REQUEST_NULL;
  switch (which) {
    case 0:
      MPI_Ineighbor_allgather(out, length, MPI_INT, in, length, MPI_INT, comm, &request);
      break;
    case 1:
      MPI_Ineighbor_allgatherv(out, length, MPI_INT, V_IN, comm, &request);
      break;
    case 2:
      MPI_Ineighbor_alltoall(out, length, MPI_INT, in, length, MPI_INT, comm, &request);
      break;
    case 3:
      MPI_Ineighbor_alltoallv(V_OUT, V_IN, comm, &request);
      break;
    default:
      MPI_Ineighbor_alltoallw(W_OUT, W_IN, comm, &request);
  }
  return request;
}

/* All that has come, and what was not to be written; who waits takes turns with who asks. */
static void end(MPI_Request* request, int step) {
  int is_over = 0;
  if (step % 2 == 0) MPI_Wait(request, MPI_STATUS_IGNORE);
  while (step % 2 == 1 && !is_over) MPI_Test(request, &is_over, MPI_STATUS_IGNORE);
  mix_all(in, blocks_max * most);
}

/* Who is beside this rank, and how heavy the arrows are. */
static void look_at(MPI_Comm comm) {
  int kind, own, nodes, edges, ins, outs, weighted;
  int first[blocks_max], second[3 * ranks_max], third[blocks_max], fourth[blocks_max];
  MPI_Topo_test(comm, &kind);
  MPI_Comm_rank(comm, &own);
  if (kind == MPI_GRAPH) {
    MPI_Graphdims_get(comm, &nodes, &edges);
    MPI_Graph_get(comm, nodes, edges, first, second);
    mix_all(first, nodes);
    mix_all(second, edges);
    MPI_Graph_neighbors_count(comm, own, &ins);
    MPI_Graph_neighbors(comm, own, ins, first);
    mix_all(first, ins);
  } else if (kind == MPI_DIST_GRAPH) {
    MPI_Dist_graph_neighbors_count(comm, &ins, &outs, &weighted);
    MPI_Dist_graph_neighbors(comm, ins, first, second, outs, third, fourth);
    mix_all(first, ins);
    mix_all(second, ins);
    mix_all(third, outs);
    mix_all(fourth, outs);
  }
}

static void use(MPI_Comm comm, int step, int is_of_pairs) {
  int sources, destinations;
  look_at(comm);
  count(comm, &sources, &destinations);
  mix_all(&sources, 1);
  mix_all(&destinations, 1);
  const int which = step % 5, length = 1 + step % most;
  fill(step, length);
  blocking(comm, which, length);
  mix_all(in, blocks_max * most);
  if (is_of_pairs) return;

  /* A message behind its start, for which its receiver waits before it starts its own. */
  int own, all, word = part(step, 1), heard = 0;
  MPI_Comm_rank(comm, &own);
  MPI_Comm_size(comm, &all);
  fill(step, length);
  if (own > 0) MPI_Recv(&heard, 1, MPI_INT, own - 1, 1, comm, MPI_STATUS_IGNORE);
  MPI_Request request = started(comm, (which + 1) % 5, length);
  if (own + 1 < all) MPI_Send(&word, 1, MPI_INT, own + 1, 1, comm);
  end(&request, step);
  mix_all(&heard, 1);

  fill(step, length);
  MPI_Neighbor_alltoallw_init(W_OUT, W_IN, comm, MPI_INFO_NULL, &request);
  for (int i = 0; i < 2; ++i) {
    for (int k = 0; k < blocks_max * most; ++k) out[k] = part(step, k + i);
    MPI_Start(&request);
    end(&request, step + i);
  }
  MPI_Request_free(&request);
}

int main(int argc, char** argv) {
  const int steps = argc > 1 ? atoi(argv[1]) : 100;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  state = (unsigned long)rank;
  name_nothing();
  for (int i = 0; i < places; ++i) kept[i] = make(i);
  for (int step = places; step < steps; ++step) {
    MPI_Comm made = make(step);
    MPI_Comm* place = &kept[step % places];
    MPI_Comm_free(place);
    *place = made;
    for (int i = 0; i < places; ++i) use(kept[i], step, i == 2);
    collectives(step, MPI_COMM_WORLD);
  }
  for (int i = 0; i < places; ++i) MPI_Comm_free(&kept[i]);
  say(argc > 2 ? argv[2] : NULL);
  MPI_Finalize();
  return 0;
}
