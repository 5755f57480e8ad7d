/* A grid of 2 x 2 of those who outlive the first barrier, periodic, so that each neighbor is one
 * twice: columns of a matrix go up and down, left and right, little and much, and what is sent up
 * comes from below. Then calls that mean nothing. Says what is wrong.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { rows_max = 100000, columns = 4 };

static int rank;

static void expect(int is_right, const char* what, int at) {
  if (!is_right) printf("rank %d, %d: wrong %s\n", rank, at, what);
}

static int class_of(int code) {
  int class = code;
  MPI_Error_class(code, &class);
  return class;
}

/* Column c goes to neighbor c; in the buffer the next column lies beside it. */
static void shift_columns(MPI_Comm grid, int rows, int is_started) {
  const size_t count = (size_t)rows * columns;
  int *in = malloc(count * sizeof(int)), *out = malloc(count * sizeof(int));
  for (size_t i = 0; i < count; ++i) in[i] = rank * 1000 + (int)(i % 997), out[i] = -1;
  MPI_Datatype column, beside;
  MPI_Type_vector(rows, 1, columns, MPI_INT, &column);
  MPI_Type_create_resized(column, 0, sizeof(int), &beside);
  MPI_Type_commit(&beside);
  if (is_started) {
    MPI_Request request;
    MPI_Ineighbor_alltoall(in, 1, beside, out, 1, beside, grid, &request);
    MPI_Type_free(&beside);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    MPI_Neighbor_alltoall(in, 1, beside, out, 1, beside, grid);
    MPI_Type_free(&beside);
  }
  MPI_Type_free(&column);
  for (int c = 0; c < columns; ++c) {
    int down, up;
    MPI_Cart_shift(grid, c / 2, 1, &down, &up);
    const int from = c % 2 == 0 ? down : up, theirs = c % 2 == 0 ? c + 1 : c - 1;
    int is_right = 1;
    for (int r = 0; r < rows; ++r)
      if (out[r * columns + c] != from * 1000 + (r * columns + theirs) % 997) is_right = 0;
    expect(is_right, "column", c);
  }
  free(in);
  free(out);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Comm living, grid;
  int own, four[columns] = {0, 0, 0, 0}, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &own);
  MPI_Comm_split(MPI_COMM_WORLD, 0, own, &living);
  MPI_Comm_set_errhandler(living, MPI_ERRORS_RETURN);
  MPI_Comm_size(living, &size);
  expect(size == columns, "size", size);
  const int dims[2] = {2, 2}, periods[2] = {1, 1};
  MPI_Cart_create(living, 2, dims, periods, 0, &grid);
  MPI_Comm_rank(grid, &rank);
  for (int is_started = 0; is_started < 2; ++is_started) {
    shift_columns(grid, 3, is_started);
    shift_columns(grid, rows_max, is_started);
  }
  const int none = MPI_Neighbor_alltoall(four, 1, MPI_INT, four, 1, MPI_INT, living);
  expect(class_of(none) == MPI_ERR_TOPOLOGY, "error without a topology", class_of(none));
  const int minus = MPI_Neighbor_allgather(four, -1, MPI_INT, four, -1, MPI_INT, grid);
  expect(class_of(minus) == MPI_ERR_ARG, "error of a count", class_of(minus));
  MPI_Comm_free(&grid);
  MPI_Comm_free(&living);
  MPI_Finalize();
  return 0;
}
