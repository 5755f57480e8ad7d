/* Duplicates, after a loss, of communicators that have a topology.
 *
 *   topologies      to be run with --on-loss continue; rank 1 dies
 *
 * Grids that were made before and after the loss are duplicated, waited for or not: the duplicates
 * are the same grids. So are those of graphs. Those of a revoked grid are refused. Each survivor
 * prints how many checks it made.
 */
#include <mpi.h>
#include <resprout/resprout.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static int rank, size, key, checks;

static void check(int is_right, const char* what) {
  ++checks;
  if (is_right) return;
  fprintf(stderr, "WRONG: rank %d: %s\n", rank, what);
  fflush(stderr);
  _exit(1);
}

/* Two rows, of which the ends meet. */
static void make_grid(MPI_Comm* grid) {
  int dims[2] = {2, size / 2}, periods[2] = {0, 1};
  check(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, grid) == MPI_SUCCESS, "a grid");
}

static void is_that_grid(MPI_Comm grid) {
  int status, ndims, dims[2], periods[2], there[2], place, up, down, remain[2] = {0, 1};
  int width = size / 2;
  MPI_Comm row;
  MPI_Topo_test(grid, &status);
  check(status == MPI_CART, "MPI_Topo_test");
  MPI_Cartdim_get(grid, &ndims);
  check(ndims == 2, "MPI_Cartdim_get");
  MPI_Cart_get(grid, 2, dims, periods, there);
  check(dims[0] == 2 && dims[1] == width && !periods[0] && periods[1], "MPI_Cart_get");
  check(there[0] == rank / width && there[1] == rank % width, "own coordinates");
  MPI_Cart_coords(grid, size - 1, 2, there);
  check(there[0] == 1 && there[1] == width - 1, "MPI_Cart_coords");
  MPI_Cart_rank(grid, there, &place);
  check(place == size - 1, "MPI_Cart_rank");
  MPI_Cart_shift(grid, 0, 1, &up, &down);
  check(up == (rank < width ? MPI_PROC_NULL : rank - width), "a border");
  MPI_Cart_shift(grid, 1, 1, &up, &down);
  check(down == rank / width * width + (rank + 1) % width, "a period");
  check(MPI_Cart_sub(grid, remain, &row) == MPI_SUCCESS, "MPI_Cart_sub");
  MPI_Comm_size(row, &place);
  check(place == width, "size of a row");
  MPI_Comm_free(&row);
}

static void its_duplicates_are(MPI_Comm grid) {
  MPI_Comm made;
  MPI_Request request;
  char* value;
  int flag, compared;
  check(MPI_Comm_idup(grid, &made, &request) == MPI_SUCCESS, "MPI_Comm_idup before MPI_Comm_dup");
  check(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS, "the end of that");
  is_that_grid(made);
  MPI_Comm_free(&made);
  check(MPI_Comm_dup(grid, &made) == MPI_SUCCESS, "MPI_Comm_dup");
  is_that_grid(made);
  MPI_Comm_get_attr(made, key, &value, &flag);
  check(flag && value == (char*)&key, "an attribute");
  MPI_Comm_compare(grid, made, &compared);
  check(compared == MPI_CONGRUENT, "a duplicate is congruent");
  check(MPI_Comm_idup(made, &grid, &request) == MPI_SUCCESS, "MPI_Comm_idup");
  check(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS, "the end of MPI_Comm_idup");
  is_that_grid(grid);
  MPI_Comm_free(&grid);
  MPI_Comm_free(&made);
}

static void none_is_made_of_a_revoked_one(MPI_Comm grid) {
  MPI_Comm made;
  MPI_Request request;
  MPI_Comm_set_errhandler(grid, MPI_ERRORS_RETURN);
  MPIX_Comm_revoke(grid);
  check(MPI_Comm_dup(grid, &made) == MPIX_ERR_REVOKED, "MPI_Comm_dup of a revoked one");
  check(MPI_Comm_idup(grid, &made, &request) == MPIX_ERR_REVOKED, "MPI_Comm_idup of it");
  check(MPI_Comm_idup_with_info(grid, MPI_INFO_NULL, &made, &request) == MPIX_ERR_REVOKED,
        "MPI_Comm_idup_with_info of it");
}

static void it_is_a_ring(MPI_Comm graph, const char* what) {
  int kind = MPI_UNDEFINED, source = -1, target = -1, weight_in = 0, weight_out = 0;
  MPI_Topo_test(graph, &kind);
  check(kind == MPI_DIST_GRAPH, what);
  MPI_Dist_graph_neighbors(graph, 1, &source, &weight_in, 1, &target, &weight_out);
  check(source == (rank + size - 1) % size && target == (rank + 1) % size, what);
  check(weight_in == 1 && weight_out == 1, what);
}

int main(int argc, char** argv) {
  MPI_Comm before, after, graph, made;
  MPI_Request request;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL);
  make_grid(&before);
  MPI_Comm_set_attr(before, key, &key);
  int weight = 1, next = (rank + 1) % size, previous = (rank + size - 1) % size;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &previous, &weight, 1, &next, &weight,
                                 MPI_INFO_NULL, 0, &graph);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1) kill(getpid(), SIGKILL);
  for (int lost = 0; lost == 0;) {
    MPI_Group failed;
    MPIX_Comm_get_failed(MPI_COMM_WORLD, &failed);
    MPI_Group_size(failed, &lost);
    MPI_Group_free(&failed);
  }
  its_duplicates_are(before);
  make_grid(&after);
  MPI_Comm_set_attr(after, key, &key);
  its_duplicates_are(after);
  MPI_Comm_set_errhandler(graph, MPI_ERRORS_RETURN);
  check(MPI_Comm_dup(graph, &made) == MPI_SUCCESS, "MPI_Comm_dup of a graph");
  it_is_a_ring(made, "its duplicate");
  MPI_Comm_free(&made);
  check(MPI_Comm_idup(graph, &made, &request) == MPI_SUCCESS, "MPI_Comm_idup of a graph");
  check(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS, "waiting for it");
  it_is_a_ring(made, "that one");
  MPI_Comm_free(&made);
  MPI_Comm_free(&after);
  none_is_made_of_a_revoked_one(before);
  MPI_Comm_free(&before);
  printf("%d checks\n", checks);
  MPI_Finalize();
  return 0;
}
