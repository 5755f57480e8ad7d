// What bt and sp share: a cube cut into cells, and sweeps along its three directions.
//
// q * q ranks cut the cube into q cells a side. A rank has q of them, on a diagonal: of each slab
// across any direction it has one. So all ranks work in every step of a sweep. Cell (x, y, z) is
// that of the rank in row x + y and column x + z, modulo q. All cells of a rank have the same
// neighbor in a direction. Faces go to the six neighbors at once (MPI_Isend, MPI_Irecv,
// MPI_Waitall); what a sweep carries goes on to the next cell.
//
// Solves L u = f by steps of u += (X Y Z)^-1 (f - L u), where X, Y and Z couple points of one
// direction only, and L - I is the sum of X - I, Y - I and Z - I. So all of them have the same
// eigenvectors, and each step makes the error smaller by at least a known factor.
#ifndef RESPROUT_EXAMPLES_MULTIPARTITION_H
#define RESPROUT_EXAMPLES_MULTIPARTITION_H

#include <math.h>

#include "kernel.h"

enum { words = 5, depth = 2 };  // unknowns of a point; layers of ghosts

// Of a direction's equations along one line of points. `stride`: doubles from point to point.
struct equations {
  int coefficients;  // doubles that a point keeps from elimination until substitution
  int forward;       // doubles that elimination carries on to the next cell, for each line
  int back;          // and substitution
  double factor;     // of the error that is left after a step, at most
  // `carry`: of the points before, zeros at the cube's border; of the last ones afterwards.
  void (*eliminate)(double* right, ptrdiff_t stride, int count, double* coefficient,
                    ptrdiff_t coefficient_stride, double* carry);
  void (*substitute)(double* right, ptrdiff_t stride, int count, const double* coefficient,
                     ptrdiff_t coefficient_stride, double* carry);
  // Adds to `sum` what the neighbors at `u` +- `stride` in one direction add to (L - I) u.
  void (*couple)(const double* u, ptrdiff_t stride, double* sum);
};

struct cell {
  int place[3];  // among the cells
  int first[3];
  int count[3];
  double* u;  // with ghosts
  double* f;  // these have none
  double* right;
  double* coefficient;
};

struct cube {
  int side;  // points
  int parts;
  int row;
  int column;
  struct cell* cells;  // [place along x]
  double* carry;       // two messages
  size_t carry_size;   // doubles of one
};

static inline int modulo(int a, int q) { return ((a % q) + q) % q; }

// The rank's cell of slab `slab` across `direction`.
static inline struct cell* cell_at(const struct cube* cube, int direction, int slab) {
  const int q = cube->parts;
  if (direction == 0) return &cube->cells[slab];
  const int corner = direction == 1 ? cube->row : cube->column;
  return &cube->cells[modulo(corner - slab, q)];
}

// The rank that has the next cells in a direction; `step` -1: those before.
static inline int neighbor_of(const struct cube* cube, int direction, int step) {
  const int q = cube->parts;
  const int row = direction == 2 ? cube->row : modulo(cube->row + step, q);
  const int column = direction == 1 ? cube->column : modulo(cube->column + step, q);
  return row * q + column;
}

static inline ptrdiff_t u_stride(const struct cell* cell, int direction) {
  ptrdiff_t stride = words;
  for (int d = 0; d < direction; ++d) stride *= cell->count[d] + 2 * depth;
  return stride;
}

static inline double* u_at(const struct cell* cell, int x, int y, int z) {
  return cell->u + (x + depth) * u_stride(cell, 0) + (y + depth) * u_stride(cell, 1) +
         (z + depth) * u_stride(cell, 2);
}

// Of arrays without ghosts, in points.
static inline ptrdiff_t point_stride(const struct cell* cell, int direction) {
  ptrdiff_t stride = 1;
  for (int d = 0; d < direction; ++d) stride *= cell->count[d];
  return stride;
}

static inline size_t points_of(const struct cell* cell) {
  return (size_t)cell->count[0] * (size_t)cell->count[1] * (size_t)cell->count[2];
}

static inline struct cube cut(const struct kernel* kernel, int side,
                              const struct equations* equations) {
  int q = 1;
  while (q * q < kernel->size) ++q;
  if (q * q != kernel->size) kernel_refuse(kernel, "the number of ranks has to be a square");
  if (side < q * depth) kernel_refuse(kernel, "there are too many ranks for this class");
  struct cube cube = {side, q, kernel->rank / q, kernel->rank % q, NULL, NULL, 0};
  cube.cells = kernel_memory((size_t)q, sizeof *cube.cells);
  const size_t longest = (size_t)(side / q + 1);
  for (int x = 0; x < q; ++x) {
    struct cell* cell = &cube.cells[x];
    const int place[3] = {x, modulo(cube.row - x, q), modulo(cube.column - x, q)};
    size_t with_ghosts = words;
    for (int d = 0; d < 3; ++d) {
      cell->place[d] = place[d];
      cell->first[d] = kernel_begin_of(place[d], q, side);
      cell->count[d] = kernel_begin_of(place[d] + 1, q, side) - cell->first[d];
      with_ghosts *= (size_t)(cell->count[d] + 2 * depth);
    }
    cell->u = kernel_memory(with_ghosts, sizeof(double));
    cell->f = kernel_memory(points_of(cell) * words, sizeof(double));
    cell->right = kernel_memory(points_of(cell) * words, sizeof(double));
    cell->coefficient =
        kernel_memory(points_of(cell) * (size_t)equations->coefficients, sizeof(double));
  }
  const int carried = equations->forward > equations->back ? equations->forward : equations->back;
  cube.carry_size = longest * longest * (size_t)carried;
  cube.carry = kernel_memory(2 * cube.carry_size, sizeof(double));
  return cube;
}

static inline void give_up(struct cube* cube) {
  for (int x = 0; x < cube->parts; ++x) {
    free(cube->cells[x].u);
    free(cube->cells[x].f);
    free(cube->cells[x].right);
    free(cube->cells[x].coefficient);
  }
  free(cube->cells);
  free(cube->carry);
}

// Copies `depth` layers of a cell across `direction`, from layer `layer` on, out of the cell or
// into it. Returns how many doubles that are.
static inline size_t copy_layers(const struct cell* cell, int direction, int layer, double* buffer,
                                 int is_into) {
  int begin[3] = {0, 0, 0};
  int end[3] = {cell->count[0], cell->count[1], cell->count[2]};
  begin[direction] = layer;
  end[direction] = layer + depth;
  size_t done = 0;
  for (int z = begin[2]; z < end[2]; ++z)
    for (int y = begin[1]; y < end[1]; ++y) {
      double* row = u_at(cell, begin[0], y, z);
      const size_t size = (size_t)(end[0] - begin[0]) * words;
      if (is_into)
        memcpy(row, buffer + done, size * sizeof(double));
      else
        memcpy(buffer + done, row, size * sizeof(double));
      done += size;
    }
  return done;
}

// Layers of all cells that have a neighbor on the side `step` of `direction`. Out: the layers next
// to it. Into: the ghosts.
static inline int copy_faces(const struct cube* cube, int direction, int step, double* buffer,
                             int is_into) {
  size_t done = 0;
  for (int slab = 0; slab < cube->parts; ++slab) {
    if (slab + step < 0 || slab + step >= cube->parts) continue;
    const struct cell* cell = cell_at(cube, direction, slab);
    const int inner = step < 0 ? 0 : cell->count[direction] - depth;
    const int outer = step < 0 ? -depth : cell->count[direction];
    done += copy_layers(cell, direction, is_into ? outer : inner, buffer + done, is_into);
  }
  return (int)done;
}

static inline void exchange_faces(const struct cube* cube) {
  if (cube->parts == 1) return;
  const size_t most = (size_t)(cube->side / cube->parts + 1);
  const size_t room = most * most * depth * words * (size_t)cube->parts;
  double* buffer = kernel_memory(12 * room, sizeof(double));
  MPI_Request requests[12];
  for (int side = 0; side < 6; ++side) {
    const int direction = side / 2;
    const int step = side % 2 == 0 ? -1 : 1;
    const int peer = neighbor_of(cube, direction, step);
    double* out = buffer + (size_t)side * room;
    // Who gets it sees it come from the other side.
    MPI_Irecv(out + 6 * room, (int)room, MPI_DOUBLE, peer, side ^ 1, MPI_COMM_WORLD,
              &requests[side]);
    MPI_Isend(out, copy_faces(cube, direction, step, out, 0), MPI_DOUBLE, peer, side,
              MPI_COMM_WORLD, &requests[6 + side]);
  }
  MPI_Waitall(12, requests, MPI_STATUSES_IGNORE);
  for (int side = 0; side < 6; ++side)
    copy_faces(cube, side / 2, side % 2 == 0 ? -1 : 1, buffer + (6 + (size_t)side) * room, 1);
  free(buffer);
}

// right = f - L u
static inline void find_residual(const struct cube* cube, const struct equations* equations) {
  exchange_faces(cube);
  for (int part = 0; part < cube->parts; ++part) {
    const struct cell* cell = &cube->cells[part];
    size_t at = 0;
    for (int z = 0; z < cell->count[2]; ++z)
      for (int y = 0; y < cell->count[1]; ++y)
        for (int x = 0; x < cell->count[0]; ++x, at += words) {
          const double* u = u_at(cell, x, y, z);
          double sum[words];
          for (int w = 0; w < words; ++w) sum[w] = u[w];
          for (int d = 0; d < 3; ++d) equations->couple(u, u_stride(cell, d), sum);
          for (size_t w = 0; w < words; ++w) cell->right[at + w] = cell->f[at + w] - sum[w];
        }
  }
}

// One half of a sweep through a cell: all lines along `direction`.
static inline void sweep_cell(const struct cell* cell, int direction,
                              const struct equations* equations, double* carry, int is_back) {
  const int a = direction == 0 ? 1 : 0;
  const int b = direction == 2 ? 1 : 2;
  const ptrdiff_t stride = point_stride(cell, direction);
  for (int j = 0; j < cell->count[b]; ++j)
    for (int i = 0; i < cell->count[a]; ++i) {
      const ptrdiff_t point = i * point_stride(cell, a) + j * point_stride(cell, b);
      double* right = cell->right + point * words;
      double* coefficient = cell->coefficient + point * equations->coefficients;
      if (is_back)
        equations->substitute(right, stride * words, cell->count[direction], coefficient,
                              stride * equations->coefficients, carry);
      else
        equations->eliminate(right, stride * words, cell->count[direction], coefficient,
                             stride * equations->coefficients, carry);
      carry += is_back ? equations->back : equations->forward;
    }
}

// right = X^-1 right, for the X of a direction.
static inline void solve_lines(const struct cube* cube, int direction,
                               const struct equations* equations) {
  enum { tag = 6 };
  double* in = cube->carry;
  double* out = cube->carry + cube->carry_size;
  for (int is_back = 0; is_back < 2; ++is_back) {
    const int step = is_back ? -1 : 1;
    const int before = neighbor_of(cube, direction, -step);
    const int behind = neighbor_of(cube, direction, step);
    MPI_Request sent = MPI_REQUEST_NULL;
    for (int turn = 0; turn < cube->parts; ++turn) {
      const struct cell* cell = cell_at(cube, direction, is_back ? cube->parts - 1 - turn : turn);
      const int lines = (int)points_of(cell) / cell->count[direction];
      const int size = lines * (is_back ? equations->back : equations->forward);
      memset(in, 0, (size_t)size * sizeof(double));
      if (turn > 0) {
        MPI_Request received;
        MPI_Irecv(in, size, MPI_DOUBLE, before, tag, MPI_COMM_WORLD, &received);
        MPI_Wait(&received, MPI_STATUS_IGNORE);
      }
      sweep_cell(cell, direction, equations, in, is_back);
      if (turn == cube->parts - 1) break;
      MPI_Wait(&sent, MPI_STATUS_IGNORE);
      memcpy(out, in, (size_t)size * sizeof(double));
      MPI_Isend(out, size, MPI_DOUBLE, behind, tag, MPI_COMM_WORLD, &sent);
    }
    MPI_Wait(&sent, MPI_STATUS_IGNORE);
  }
}

static inline uint64_t index_of(const struct cube* cube, const struct cell* cell, int x, int y,
                                int z, int w) {
  const uint64_t side = (uint64_t)cube->side;
  const uint64_t plane = (uint64_t)(cell->first[2] + z) * side + (uint64_t)(cell->first[1] + y);
  return (plane * side + (uint64_t)(cell->first[0] + x)) * words + (uint64_t)w;
}

// Does `what` with each unknown of this rank: its number, where it is in u, and where in others.
typedef void (*visit)(uint64_t index, double* u, double* f, const double* right, double* sum);

static inline double visit_all(const struct cube* cube, visit what) {
  double sum = 0.0;
  for (int part = 0; part < cube->parts; ++part) {
    const struct cell* cell = &cube->cells[part];
    size_t at = 0;
    for (int z = 0; z < cell->count[2]; ++z)
      for (int y = 0; y < cell->count[1]; ++y)
        for (int x = 0; x < cell->count[0]; ++x)
          for (int w = 0; w < words; ++w, ++at)
            what(index_of(cube, cell, x, y, z, w), u_at(cell, x, y, z) + w, cell->f + at,
                 cell->right + at, &sum);
  }
  return sum;
}

static inline void set_solution(uint64_t index, double* u, double* f, const double* right,
                                double* sum) {
  (void)f;
  (void)right;
  *u = kernel_uniform(index);
  *sum += *u * *u;
}

// f = L u, where right = -L u; u is 0 from then on.
static inline void set_right_side(uint64_t index, double* u, double* f, const double* right,
                                  double* sum) {
  (void)index;
  (void)sum;
  *f = -*right;
  *u = 0.0;
}

static inline void add_correction(uint64_t index, double* u, double* f, const double* right,
                                  double* sum) {
  (void)index;
  (void)f;
  (void)sum;
  *u += *right;
}

static inline void add_error(uint64_t index, double* u, double* f, const double* right,
                             double* sum) {
  (void)f;
  (void)right;
  const double error = *u - kernel_uniform(index);
  *sum += error * error;
}

static inline uint64_t digest_of(const struct cube* cube) {
  uint64_t digest = 0;
  for (int part = 0; part < cube->parts; ++part) {
    const struct cell* cell = &cube->cells[part];
    for (int z = 0; z < cell->count[2]; ++z)
      for (int y = 0; y < cell->count[1]; ++y)
        for (int x = 0; x < cell->count[0]; ++x)
          for (int w = 0; w < words; ++w) {
            uint64_t bits = 0;
            memcpy(&bits, u_at(cell, x, y, z) + w, sizeof bits);
            digest += kernel_digest(index_of(cube, cell, x, y, z, w), bits);
          }
  }
  return digest;
}

// The whole program. Returns what main returns.
static inline int run_multipartition(int argc, char** argv, const char* name,
                                     const struct equations* equations) {
  static const int sides[] = {12, 24, 64};
  struct kernel kernel = kernel_begin(argc, argv, name, 10);
  struct cube cube = cut(&kernel, sides[kernel.class_number], equations);
  double sums[2] = {visit_all(&cube, set_solution), 0.0};
  find_residual(&cube, equations);
  visit_all(&cube, set_right_side);
  double left = 1.0;
  for (int iteration = 0; iteration < kernel.iterations; ++iteration) {
    find_residual(&cube, equations);
    for (int direction = 0; direction < 3; ++direction) solve_lines(&cube, direction, equations);
    visit_all(&cube, add_correction);
    left *= equations->factor;
  }
  sums[1] = visit_all(&cube, add_error);
  MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  const double error = sqrt(sums[1] / sums[0]);
  const uint64_t digest = digest_of(&cube);
  give_up(&cube);
  return kernel_end(&kernel, error, digest, error <= left + 1e-12);
}

#endif
