/* Calls each of those that make or end something, a communicator or a window. */
#include <mpi.h>

#include <stdio.h>

static void made(MPI_Comm* comm) {
  if (*comm != MPI_COMM_NULL) MPI_Comm_free(comm);
}

static void make_topologies(int size) {
  const int periodic = 0, drops = 0;
  MPI_Comm grid, line, graph;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &grid);
  MPI_Cart_sub(grid, &drops, &line);
  made(&line);
  made(&grid);
  const int index = 0, edge = 0, none = 0, one = 1;
  MPI_Graph_create(MPI_COMM_WORLD, 1, &index, &edge, 0, &graph);
  made(&graph);
  MPI_Dist_graph_create(MPI_COMM_WORLD, 0, &none, &none, &none, &one, MPI_INFO_NULL, 0, &graph);
  made(&graph);
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, &none, &one, 0, &none, &one, MPI_INFO_NULL, 0,
                                 &graph);
  made(&graph);
}

static void make_pairs(int rank) {
  MPI_Comm half, merged, pair = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 3, &pair);
  if (pair != MPI_COMM_NULL) {
    MPI_Intercomm_merge(pair, rank % 2, &merged);
    made(&merged);
    MPI_Comm_disconnect(&pair);
  }
  made(&half);
}

static void make_others(void) {
  MPI_Comm comm;
  MPI_Request request;
  MPI_Group group;
  MPI_Comm_group(MPI_COMM_WORLD, &group);
  MPI_Comm_create_from_group(group, "counted", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
  made(&comm);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  made(&comm);
  MPI_Comm_dup_with_info(MPI_COMM_WORLD, MPI_INFO_NULL, &comm);
  made(&comm);
  MPI_Comm_idup(MPI_COMM_WORLD, &comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  made(&comm);
  MPI_Comm_idup_with_info(MPI_COMM_WORLD, MPI_INFO_NULL, &comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  made(&comm);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comm);
  made(&comm);
  MPI_Comm_create(MPI_COMM_WORLD, group, &comm);
  made(&comm);
  MPI_Comm_create_group(MPI_COMM_WORLD, group, 4, &comm);
  made(&comm);
  MPI_Group_free(&group);
}

int main(int argc, char** argv) {
  int rank, size, number = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  make_others();
  make_topologies(size);
  make_pairs(rank);
  MPI_Win win;
  MPI_Win_create(&number, sizeof number, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_fence(0, win);
  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}
