// A wavefront: each value needs its neighbors to the west, north and above first.
//
//   lu [CLASS [ITERATIONS]]     cubes of 16, 40 or 100 points a side
//
// Symmetric Gauss-Seidel for u - c (sum of u's six neighbors) = f: a sweep from one corner of the
// cube to the opposite one, and one back. Ranks have columns of the cube; plane by plane a rank
// gets the borders of the two ranks before it and hands on its own to the two behind it, so that
// the planes of a sweep go through the ranks as through a pipeline. The ranks of a row and of a
// column of the grid are communicators of their own (MPI_Cart_sub), a border across rows is a
// derived datatype. The solution is known: each sweep takes the error down by a factor that is
// known, too.
#include <math.h>

#include "kernel.h"

static const double coupling = 0.1;

struct cube {
  int side;
  int nx;  // points of this rank, between ghosts at 0 and nx + 1
  int ny;
  int first_x;
  int first_y;
  // Communicators along x and y; neighbors in them, or MPI_PROC_NULL. [0] before, [1] behind.
  MPI_Comm line[2];
  int neighbor[2][2];
  MPI_Datatype border[2];  // of one plane: across x (a column of it), across y (a row of it)
  double* u;
  double* f;
};

static size_t at(const struct cube* c, int x, int y, int z) {
  return ((size_t)z * (size_t)(c->ny + 2) + (size_t)y) * (size_t)(c->nx + 2) + (size_t)x;
}

// Of a point anywhere, ghosts of the cube included: there it is 0.
static double solution(const struct cube* c, int x, int y, int z) {
  const int gx = c->first_x + x - 1;
  const int gy = c->first_y + y - 1;
  const int gz = z - 1;
  const int side = c->side;
  if (gx < 0 || gy < 0 || gz < 0 || gx >= side || gy >= side || gz >= side) return 0.0;
  return kernel_uniform(((uint64_t)gz * (uint64_t)side + (uint64_t)gy) * (uint64_t)side +
                        (uint64_t)gx);
}

static void divide(struct cube* c, int ranks) {
  int dims[2] = {0, 0};
  int periods[2] = {0, 0};
  int coords[2];
  MPI_Comm grid;
  MPI_Dims_create(ranks, 2, dims);
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
  int rank = 0;
  MPI_Comm_rank(grid, &rank);
  MPI_Cart_coords(grid, rank, 2, coords);
  for (int axis = 0; axis < 2; ++axis) {
    int keep[2] = {axis == 0, axis == 1};
    MPI_Cart_sub(grid, keep, &c->line[axis]);
    MPI_Cart_shift(c->line[axis], 0, 1, &c->neighbor[axis][0], &c->neighbor[axis][1]);
  }
  MPI_Comm_free(&grid);
  c->first_x = kernel_begin_of(coords[0], dims[0], c->side);
  c->first_y = kernel_begin_of(coords[1], dims[1], c->side);
  c->nx = kernel_begin_of(coords[0] + 1, dims[0], c->side) - c->first_x;
  c->ny = kernel_begin_of(coords[1] + 1, dims[1], c->side) - c->first_y;
  MPI_Type_vector(c->ny, 1, c->nx + 2, MPI_DOUBLE, &c->border[0]);
  MPI_Type_contiguous(c->nx, MPI_DOUBLE, &c->border[1]);
  MPI_Type_commit(&c->border[0]);
  MPI_Type_commit(&c->border[1]);
}

static double* border_of(const struct cube* c, int axis, int place, int z) {
  return c->u + (axis == 0 ? at(c, place, 1, z) : at(c, 1, place, z));
}

// What lies behind, as the last sweep left it: first borders go to who is before. `way`: 1 in a
// sweep upwards, where "before" is the neighbor to the west or north; 0 in one back.
static void fetch_old_borders(struct cube* c, int way) {
  for (int axis = 0; axis < 2; ++axis) {
    const int last = axis == 0 ? c->nx : c->ny;
    const int before = c->neighbor[axis][1 - way];
    const int behind = c->neighbor[axis][way];
    for (int z = 1; z <= c->side; ++z)
      MPI_Sendrecv(border_of(c, axis, way ? 1 : last, z), 1, c->border[axis], before, 1,
                   border_of(c, axis, way ? last + 1 : 0, z), 1, c->border[axis], behind, 1,
                   c->line[axis], MPI_STATUS_IGNORE);
  }
}

static void relax_plane(struct cube* c, int z, int way) {
  for (int j = 1; j <= c->ny; ++j) {
    const int y = way ? j : c->ny + 1 - j;
    for (int i = 1; i <= c->nx; ++i) {
      const int x = way ? i : c->nx + 1 - i;
      const double* u = c->u;
      const double sum = u[at(c, x - 1, y, z)] + u[at(c, x + 1, y, z)] + u[at(c, x, y - 1, z)] +
                         u[at(c, x, y + 1, z)] + u[at(c, x, y, z - 1)] + u[at(c, x, y, z + 1)];
      c->u[at(c, x, y, z)] = c->f[at(c, x, y, z)] + coupling * sum;
    }
  }
}

static void sweep(struct cube* c, int way, MPI_Request* requests) {
  fetch_old_borders(c, way);
  int open = 0;
  for (int k = 1; k <= c->side; ++k) {
    const int z = way ? k : c->side + 1 - k;
    for (int axis = 0; axis < 2; ++axis) {
      const int last = axis == 0 ? c->nx : c->ny;
      MPI_Recv(border_of(c, axis, way ? 0 : last + 1, z), 1, c->border[axis],
               c->neighbor[axis][1 - way], 2, c->line[axis], MPI_STATUS_IGNORE);
    }
    relax_plane(c, z, way);
    // Planes stay as they are until the sweep is over, so all sends may be open till then.
    for (int axis = 0; axis < 2; ++axis) {
      const int last = axis == 0 ? c->nx : c->ny;
      MPI_Isend(border_of(c, axis, way ? last : 1, z), 1, c->border[axis], c->neighbor[axis][way],
                2, c->line[axis], &requests[open++]);
    }
  }
  MPI_Waitall(open, requests, MPI_STATUSES_IGNORE);
}

// The right-hand side that has this solution.
static void prepare(struct cube* c) {
  for (int z = 1; z <= c->side; ++z)
    for (int y = 1; y <= c->ny; ++y)
      for (int x = 1; x <= c->nx; ++x)
        c->f[at(c, x, y, z)] =
            solution(c, x, y, z) - coupling * (solution(c, x - 1, y, z) + solution(c, x + 1, y, z) +
                                               solution(c, x, y - 1, z) + solution(c, x, y + 1, z) +
                                               solution(c, x, y, z - 1) + solution(c, x, y, z + 1));
}

static double worst_error(const struct cube* c, uint64_t* digest) {
  double worst = 0.0;
  for (int z = 1; z <= c->side; ++z) {
    for (int y = 1; y <= c->ny; ++y) {
      for (int x = 1; x <= c->nx; ++x) {
        const double value = c->u[at(c, x, y, z)];
        const uint64_t index =
            ((uint64_t)z * (uint64_t)c->side + (uint64_t)(c->first_y + y)) * (uint64_t)c->side +
            (uint64_t)(c->first_x + x);
        uint64_t bits = 0;
        memcpy(&bits, &value, sizeof bits);
        *digest += kernel_digest(index, bits);
        worst = fmax(worst, fabs(value - solution(c, x, y, z)));
      }
    }
  }
  MPI_Allreduce(MPI_IN_PLACE, &worst, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return worst;
}

int main(int argc, char** argv) {
  static const int sides[] = {16, 40, 100};
  const struct kernel kernel = kernel_begin(argc, argv, "lu", 8);
  struct cube c = {.side = sides[kernel.class_number]};
  int dims[2] = {0, 0};
  MPI_Dims_create(kernel.size, 2, dims);
  if (dims[0] > c.side)
    kernel_refuse(&kernel,
                  "too many ranks: each side of their grid has at most 16 of class S, 40 "
                  "of W, 100 of A");
  divide(&c, kernel.size);
  const size_t points = at(&c, 0, 0, c.side + 2);
  c.u = kernel_memory(points, sizeof *c.u);
  c.f = kernel_memory(points, sizeof *c.f);
  MPI_Request* requests = kernel_memory(2 * (size_t)c.side, sizeof *requests);
  prepare(&c);
  uint64_t digest = 0;
  for (int i = 0; i < kernel.iterations; ++i) {
    sweep(&c, 1, requests);
    sweep(&c, 0, requests);
  }
  const double worst = worst_error(&c, &digest);
  // In a sweep a value's error is at most 3 c (new) + 3 c (old) of the worst: 3 c / (1 - 3 c) of
  // it.
  const double factor = 3.0 * coupling / (1.0 - 3.0 * coupling);
  const int is_right = worst <= pow(factor, 2.0 * kernel.iterations) + 1e-14;
  for (int axis = 0; axis < 2; ++axis) {
    MPI_Comm_free(&c.line[axis]);
    MPI_Type_free(&c.border[axis]);
  }
  free(c.u);
  free(c.f);
  free(requests);
  return kernel_end(&kernel, worst, digest, is_right);
}
