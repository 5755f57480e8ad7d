// Multigrid: heat that comes to rest on a square plate, computed on grids finer and finer.
//
//   mg [CLASS [ITERATIONS]]     64, 256 or 1024 cells a side
//
// V-cycles for the Poisson equation with a cold border: smooth, hand what is missing down to a grid
// half as fine, solve there, correct, smooth. Each grid lies on all ranks in rectangles of cells,
// with a border of ghosts that come from the neighbors before each sweep. As that happens thousands
// of times with the same buffers, the messages are persistent requests, made once for each grid
// (MPI_Send_init, MPI_Startall); a column of cells is a derived datatype. Rows take their ghosts
// along, after columns, and so the corners arrive, too.
#include <math.h>

#include "kernel.h"

enum { coarsest = 16, levels_max = 10, sweeps = 3, coarse_sweeps = 300 };

struct grid {
  int nx;  // cells of this rank, between ghosts at 0 and nx + 1
  int ny;
  double width;  // of a cell
  double* u;
  double* f;
  double* other;
  MPI_Datatype column;
  MPI_Request requests[2][4];  // along x, then along y
};

struct plate {
  int side;
  int dims[2];
  int coords[2];
  int neighbor[2][2];  // along x and y: before and behind; MPI_PROC_NULL: the border
  MPI_Comm comm;
  int levels;
  struct grid grids[levels_max];  // the finest first
};

static size_t at(const struct grid* g, int x, int y) {
  return (size_t)y * (size_t)(g->nx + 2) + (size_t)x;
}

// Two sends and two receives a direction: what is inside goes out, what is outside comes in.
static void init_requests(struct plate* p, struct grid* g) {
  MPI_Type_vector(g->ny, 1, g->nx + 2, MPI_DOUBLE, &g->column);
  MPI_Type_commit(&g->column);
  for (int end = 0; end < 2; ++end) {
    MPI_Request* x = &g->requests[0][2 * end];
    MPI_Request* y = &g->requests[1][2 * end];
    const int inner_x = end == 0 ? 1 : g->nx;
    const int outer_x = end == 0 ? 0 : g->nx + 1;
    MPI_Send_init(g->u + at(g, inner_x, 1), 1, g->column, p->neighbor[0][end], end, p->comm, &x[0]);
    MPI_Recv_init(g->u + at(g, outer_x, 1), 1, g->column, p->neighbor[0][end], 1 - end, p->comm,
                  &x[1]);
    const int inner_y = end == 0 ? 1 : g->ny;
    const int outer_y = end == 0 ? 0 : g->ny + 1;
    MPI_Send_init(g->u + at(g, 0, inner_y), g->nx + 2, MPI_DOUBLE, p->neighbor[1][end], end,
                  p->comm, &y[0]);
    MPI_Recv_init(g->u + at(g, 0, outer_y), g->nx + 2, MPI_DOUBLE, p->neighbor[1][end], 1 - end,
                  p->comm, &y[1]);
  }
}

static void make_grids(struct plate* p) {
  const int periods[2] = {0, 0};
  MPI_Cart_create(MPI_COMM_WORLD, 2, p->dims, periods, 0, &p->comm);
  int rank = 0;
  MPI_Comm_rank(p->comm, &rank);
  MPI_Cart_coords(p->comm, rank, 2, p->coords);
  for (int axis = 0; axis < 2; ++axis)
    MPI_Cart_shift(p->comm, axis, 1, &p->neighbor[axis][0], &p->neighbor[axis][1]);
  for (int side = p->side; side >= coarsest; side /= 2) {
    struct grid* g = &p->grids[p->levels++];
    g->nx = side / p->dims[0];
    g->ny = side / p->dims[1];
    g->width = 1.0 / side;
    g->u = kernel_memory(at(g, 0, g->ny + 2), sizeof(double));
    g->f = kernel_memory(at(g, 0, g->ny + 2), sizeof(double));
    g->other = kernel_memory(at(g, 0, g->ny + 2), sizeof(double));
    init_requests(p, g);
  }
}

// Ghosts from the neighbors; at the plate's border minus the cell inside, so that the border is 0.
static void exchange(const struct plate* p, struct grid* g) {
  MPI_Startall(4, g->requests[0]);
  MPI_Waitall(4, g->requests[0], MPI_STATUSES_IGNORE);
  for (int end = 0; end < 2; ++end)
    for (int y = 1; y <= g->ny && p->neighbor[0][end] == MPI_PROC_NULL; ++y)
      g->u[at(g, end == 0 ? 0 : g->nx + 1, y)] = -g->u[at(g, end == 0 ? 1 : g->nx, y)];
  MPI_Startall(4, g->requests[1]);
  MPI_Waitall(4, g->requests[1], MPI_STATUSES_IGNORE);
  for (int end = 0; end < 2; ++end)
    for (int x = 0; x <= g->nx + 1 && p->neighbor[1][end] == MPI_PROC_NULL; ++x)
      g->u[at(g, x, end == 0 ? 0 : g->ny + 1)] = -g->u[at(g, x, end == 0 ? 1 : g->ny)];
}

// f + Laplace u, with ghosts as they are.
static double residual(const struct grid* g, int x, int y) {
  const double* u = g->u;
  const double sum = u[at(g, x - 1, y)] + u[at(g, x + 1, y)] + u[at(g, x, y - 1)] +
                     u[at(g, x, y + 1)] - 4.0 * u[at(g, x, y)];
  return g->f[at(g, x, y)] + sum / (g->width * g->width);
}

// Damped Jacobi: the same whatever the number of ranks.
static void smooth(const struct plate* p, struct grid* g, int count) {
  for (int i = 0; i < count; ++i) {
    exchange(p, g);
    for (int y = 1; y <= g->ny; ++y)
      for (int x = 1; x <= g->nx; ++x)
        g->other[at(g, x, y)] = 0.8 / 4.0 * g->width * g->width * residual(g, x, y);
    for (int y = 1; y <= g->ny; ++y)
      for (int x = 1; x <= g->nx; ++x) g->u[at(g, x, y)] += g->other[at(g, x, y)];
  }
}

// What the fine grid still misses, averaged over four cells, is what the coarse one has to find.
static void restrict_to(const struct plate* p, struct grid* fine, struct grid* coarse) {
  exchange(p, fine);
  for (int y = 1; y <= coarse->ny; ++y) {
    for (int x = 1; x <= coarse->nx; ++x) {
      coarse->u[at(coarse, x, y)] = 0.0;
      coarse->f[at(coarse, x, y)] =
          0.25 * (residual(fine, 2 * x - 1, 2 * y - 1) + residual(fine, 2 * x, 2 * y - 1) +
                  residual(fine, 2 * x - 1, 2 * y) + residual(fine, 2 * x, 2 * y));
    }
  }
}

// Bilinear: of four coarse cells the one around counts 9/16, its neighbors 3, 3 and 1.
static void correct(const struct plate* p, struct grid* fine, struct grid* coarse) {
  exchange(p, coarse);
  for (int y = 1; y <= fine->ny; ++y) {
    for (int x = 1; x <= fine->nx; ++x) {
      const int cx = (x + 1) / 2;
      const int cy = (y + 1) / 2;
      const int nx = x % 2 == 1 ? cx - 1 : cx + 1;
      const int ny = y % 2 == 1 ? cy - 1 : cy + 1;
      fine->u[at(fine, x, y)] +=
          (9.0 * coarse->u[at(coarse, cx, cy)] + 3.0 * coarse->u[at(coarse, nx, cy)] +
           3.0 * coarse->u[at(coarse, cx, ny)] + coarse->u[at(coarse, nx, ny)]) /
          16.0;
    }
  }
}

static void cycle(struct plate* p) {
  const int last = p->levels - 1;
  for (int level = 0; level < last; ++level) {
    smooth(p, &p->grids[level], sweeps);
    restrict_to(p, &p->grids[level], &p->grids[level + 1]);
  }
  smooth(p, &p->grids[last], coarse_sweeps);
  for (int level = last - 1; level >= 0; --level) {
    correct(p, &p->grids[level], &p->grids[level + 1]);
    smooth(p, &p->grids[level], sweeps);
  }
}

static double center(const struct plate* p, const struct grid* g, int axis, int i) {
  const int cells = axis == 0 ? g->nx : g->ny;
  return (p->coords[axis] * cells + i - 0.5) * g->width;
}

static double heat(const struct plate* p, const struct grid* g, int x, int y) {
  const double pi = acos(-1.0);
  return sin(pi * center(p, g, 0, x)) * sin(2.0 * pi * center(p, g, 1, y));
}

static double worst_residual(const struct plate* p, struct grid* g) {
  double worst = 0.0;
  exchange(p, g);
  for (int y = 1; y <= g->ny; ++y)
    for (int x = 1; x <= g->nx; ++x) worst = fmax(worst, fabs(residual(g, x, y)));
  MPI_Allreduce(MPI_IN_PLACE, &worst, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return worst;
}

// How far the cells are from the exact solution, at worst, and their digest.
static double worst_error(const struct plate* p, const struct grid* g, uint64_t* digest) {
  double worst = 0.0;
  for (int y = 1; y <= g->ny; ++y) {
    for (int x = 1; x <= g->nx; ++x) {
      const double value = g->u[at(g, x, y)];
      const uint64_t index = (uint64_t)(p->coords[1] * g->ny + y) * (uint64_t)p->side +
                             (uint64_t)(p->coords[0] * g->nx + x);
      uint64_t bits = 0;
      memcpy(&bits, &value, sizeof bits);
      *digest += kernel_digest(index, bits);
      worst = fmax(worst, fabs(value - heat(p, g, x, y)));
    }
  }
  MPI_Allreduce(MPI_IN_PLACE, &worst, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return worst;
}

int main(int argc, char** argv) {
  const struct kernel kernel = kernel_begin(argc, argv, "mg", 8);
  struct plate p = {.side = 64 << (2 * kernel.class_number)};
  MPI_Dims_create(kernel.size, 2, p.dims);
  if (coarsest % p.dims[0] != 0 || coarsest % p.dims[1] != 0)
    kernel_refuse(&kernel,
                  "both sides of the ranks' grid have to divide 16: 1, 2, 4, 8, 16 ... 256 "
                  "ranks");
  make_grids(&p);
  struct grid* finest = &p.grids[0];
  const double pi = acos(-1.0);
  for (int y = 1; y <= finest->ny; ++y)
    for (int x = 1; x <= finest->nx; ++x)
      finest->f[at(finest, x, y)] = 5.0 * pi * pi * heat(&p, finest, x, y);
  const double before = worst_residual(&p, finest);
  for (int i = 0; i < kernel.iterations; ++i) cycle(&p);
  const double after = worst_residual(&p, finest);
  uint64_t digest = 0;
  const double worst = worst_error(&p, finest, &digest);
  // A cycle leaves less than a third; cells of width h know the solution to about 5/12 pi^2 h^2.
  const double cycled = pow(1.0 / 3.0, kernel.iterations);
  const int is_right = after <= before * cycled + 1e-7 &&
                       worst <= 5.0 * pi * pi * finest->width * finest->width + cycled;
  for (int level = 0; level < p.levels; ++level) {
    struct grid* g = &p.grids[level];
    for (int i = 0; i < 8; ++i) MPI_Request_free(&g->requests[i / 4][i % 4]);
    MPI_Type_free(&g->column);
    free(g->u);
    free(g->f);
    free(g->other);
  }
  MPI_Comm_free(&p.comm);
  return kernel_end(&kernel, after / before, digest, is_right);
}
