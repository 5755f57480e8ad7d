// Conjugate gradients: a sparse system whose matrix couples anybody with anybody.
//
//   cg [CLASS [ITERATIONS]]     1400, 14000 or 75000 unknowns; solves ITERATIONS systems
//
// The matrix is that of a random graph: each edge pulls its two ends together, each unknown is held
// a little. It is symmetric and positive definite. A rank has some of the unknowns and needs those
// of others that its edges lead to: it asks each owner for them by number. An owner does not know
// who will ask, so it receives from anybody (MPI_ANY_SOURCE). From then on an exchange is one
// derived datatype, which picks the unknowns out of the vector, per neighbor, without waiting for
// each other (MPI_Isend, MPI_Irecv). The solution of each system is known, and compared.
#include <math.h>

#include "kernel.h"

enum { edges_per_unknown = 4, request_tag = 1, data_tag = 2 };

struct entry {
  int row;     // of this rank, from 0
  int column;  // in the local vector: own unknowns, then foreign ones
  double weight;
};

struct neighbor {
  int rank;
  int begin;  // in the local vector, of the unknowns that come from it
  int count;
  MPI_Datatype wanted;  // the own unknowns that it wants; null: none
};

struct matrix {
  int unknowns;  // of all ranks
  int begin;     // of this one
  int own;
  int local;  // own and foreign
  struct entry* entries;
  int entry_count;
  double* diagonal;
  int* foreign;  // numbers of the foreign unknowns, ascending, so by owner
  struct neighbor* neighbors;
  int neighbor_count;
  MPI_Request* requests;
};

static int ascending(const void* a, const void* b) { return *(const int*)a - *(const int*)b; }

static int is_own(const struct matrix* m, int unknown) {
  return unknown >= m->begin && unknown < m->begin + m->own;
}

static int place_of(const struct matrix* m, int unknown) {
  if (is_own(m, unknown)) return unknown - m->begin;
  const int* found =
      bsearch(&unknown, m->foreign, (size_t)(m->local - m->own), sizeof(int), ascending);
  return m->own + (int)(found - m->foreign);
}

static void add_entry(struct matrix* m, int row, int column, double weight) {
  m->entries[m->entry_count++] = (struct entry){row - m->begin, column, weight};
  m->diagonal[row - m->begin] += weight;
}

// Goes over all edges of the graph twice: for the foreign unknowns, then for the entries.
static void make_rows(struct matrix* m) {
  const int edges = m->unknowns * edges_per_unknown;
  for (int pass = 0; pass < 2; ++pass) {
    int touching = 0;
    for (int e = 0; e < edges; ++e) {
      const int a = e / edges_per_unknown;
      const int b = (int)(kernel_hash((uint64_t)e) % (uint64_t)m->unknowns);
      if (a == b || (!is_own(m, a) && !is_own(m, b))) continue;
      const double weight = 0.25 + 0.5 * kernel_uniform((uint64_t)e);
      if (pass == 0) {
        if (!is_own(m, a)) m->foreign[m->local++] = a;
        if (!is_own(m, b)) m->foreign[m->local++] = b;
      } else {
        if (is_own(m, a)) add_entry(m, a, place_of(m, b), weight);
        if (is_own(m, b)) add_entry(m, b, place_of(m, a), weight);
      }
      ++touching;
    }
    if (pass == 1) break;
    qsort(m->foreign, (size_t)m->local, sizeof(int), ascending);
    int different = 0;
    for (int i = 0; i < m->local; ++i)
      if (i == 0 || m->foreign[i] != m->foreign[i - 1]) m->foreign[different++] = m->foreign[i];
    m->local = m->own + different;
    m->entries = kernel_memory(2 * (size_t)touching, sizeof *m->entries);
  }
}

// The neighbor of that rank; a new one if it is none yet.
static struct neighbor* neighbor_of(struct matrix* m, int rank) {
  for (int i = 0; i < m->neighbor_count; ++i)
    if (m->neighbors[i].rank == rank) return &m->neighbors[i];
  m->neighbors[m->neighbor_count] = (struct neighbor){rank, 0, 0, MPI_DATATYPE_NULL};
  return &m->neighbors[m->neighbor_count++];
}

// Asks the owners of foreign unknowns for them, and learns who asks for which own ones.
static void meet_neighbors(struct matrix* m, int ranks) {
  int* asks = kernel_memory((size_t)ranks, sizeof *asks);
  const int foreign = m->local - m->own;
  for (int i = 0, owner = 0; i < foreign; ++i) {
    while (m->foreign[i] >= kernel_begin_of(owner + 1, ranks, m->unknowns)) ++owner;
    struct neighbor* neighbor = neighbor_of(m, owner);
    if (neighbor->count++ == 0) neighbor->begin = m->own + i;
    asks[owner] = 1;
  }
  int askers = 0;
  MPI_Reduce_scatter_block(asks, &askers, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  const int asked = m->neighbor_count;
  for (int i = 0; i < asked; ++i)
    MPI_Isend(m->foreign + (m->neighbors[i].begin - m->own), m->neighbors[i].count, MPI_INT,
              m->neighbors[i].rank, request_tag, MPI_COMM_WORLD, &m->requests[i]);
  for (int i = 0; i < askers; ++i) {
    MPI_Status status;
    int count = 0;
    MPI_Probe(MPI_ANY_SOURCE, request_tag, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    int* wanted = kernel_memory((size_t)count, sizeof *wanted);
    MPI_Recv(wanted, count, MPI_INT, status.MPI_SOURCE, request_tag, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    for (int k = 0; k < count; ++k) wanted[k] -= m->begin;
    MPI_Datatype* type = &neighbor_of(m, status.MPI_SOURCE)->wanted;
    MPI_Type_create_indexed_block(count, 1, wanted, MPI_DOUBLE, type);
    MPI_Type_commit(type);
    free(wanted);
  }
  MPI_Waitall(asked, m->requests, MPI_STATUSES_IGNORE);
  free(asks);
}

// result = matrix * vector. The vector's foreign part is filled in first.
static void multiply(struct matrix* m, double* vector, double* result) {
  int open = 0;
  for (int i = 0; i < m->neighbor_count; ++i) {
    const struct neighbor* n = &m->neighbors[i];
    if (n->count > 0)
      MPI_Irecv(vector + n->begin, n->count, MPI_DOUBLE, n->rank, data_tag, MPI_COMM_WORLD,
                &m->requests[open++]);
    if (n->wanted != MPI_DATATYPE_NULL)
      MPI_Isend(vector, 1, n->wanted, n->rank, data_tag, MPI_COMM_WORLD, &m->requests[open++]);
  }
  for (int i = 0; i < m->own; ++i) result[i] = (0.1 + m->diagonal[i]) * vector[i];
  MPI_Waitall(open, m->requests, MPI_STATUSES_IGNORE);
  for (int e = 0; e < m->entry_count; ++e)
    result[m->entries[e].row] -= m->entries[e].weight * vector[m->entries[e].column];
}

static double dot(const struct matrix* m, const double* a, const double* b) {
  double sum = 0.0;
  for (int i = 0; i < m->own; ++i) sum += a[i] * b[i];
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return sum;
}

// Solves matrix * x = r from x = 0; r becomes the residual. Returns how many steps it took.
static int solve(struct matrix* m, double* x, double* r, double* p, double* q) {
  for (int i = 0; i < m->own; ++i) {
    x[i] = 0.0;
    p[i] = r[i];
  }
  double rho = dot(m, r, r);
  const double enough = rho * 1e-24;
  int steps = 0;
  for (; rho > enough && steps < 500; ++steps) {
    multiply(m, p, q);
    const double alpha = rho / dot(m, p, q);
    for (int i = 0; i < m->own; ++i) {
      x[i] += alpha * p[i];
      r[i] -= alpha * q[i];
    }
    const double before = rho;
    rho = dot(m, r, r);
    for (int i = 0; i < m->own; ++i) p[i] = r[i] + rho / before * p[i];
  }
  return steps;
}

int main(int argc, char** argv) {
  static const int unknowns[] = {1400, 14000, 75000};
  const struct kernel kernel = kernel_begin(argc, argv, "cg", 4);
  struct matrix m = {.unknowns = unknowns[kernel.class_number]};
  m.begin = kernel_begin_of(kernel.rank, kernel.size, m.unknowns);
  m.own = kernel_begin_of(kernel.rank + 1, kernel.size, m.unknowns) - m.begin;
  m.diagonal = kernel_memory((size_t)m.own, sizeof *m.diagonal);
  m.foreign = kernel_memory((size_t)m.unknowns * edges_per_unknown, sizeof *m.foreign);
  m.neighbors = kernel_memory((size_t)kernel.size, sizeof *m.neighbors);
  m.requests = kernel_memory(2 * (size_t)kernel.size, sizeof(MPI_Request));
  make_rows(&m);
  meet_neighbors(&m, kernel.size);
  double* v[5];  // x, r, p, q and the right-hand side's solution
  for (int i = 0; i < 5; ++i) v[i] = kernel_memory((size_t)m.local, sizeof(double));
  uint64_t digest = 0;
  int steps = 0;
  int is_right = 1;
  for (int system = 0; system < kernel.iterations; ++system) {
    for (int i = 0; i < m.own; ++i) {
      // Multiples of 1/16, so that what comes out can be told exactly.
      const uint64_t index = (uint64_t)system << 32 | (uint64_t)(m.begin + i);
      v[4][i] = (double)(kernel_hash(index) % 33) / 16.0 - 1.0;
    }
    multiply(&m, v[4], v[1]);
    steps += solve(&m, v[0], v[1], v[2], v[3]);
    for (int i = 0; i < m.own; ++i) {
      const uint64_t index = (uint64_t)system << 32 | (uint64_t)(m.begin + i);
      is_right = is_right && fabs(v[0][i] - v[4][i]) < 1e-8;
      digest += kernel_digest(index, (uint64_t)llround(v[0][i] * 16.0));
    }
  }
  for (int i = 0; i < m.neighbor_count; ++i)
    if (m.neighbors[i].wanted != MPI_DATATYPE_NULL) MPI_Type_free(&m.neighbors[i].wanted);
  for (int i = 0; i < 5; ++i) free(v[i]);
  void* const memory[] = {m.entries, m.diagonal, m.foreign, m.neighbors, m.requests};
  for (size_t i = 0; i < sizeof memory / sizeof *memory; ++i) free(memory[i]);
  return kernel_end(&kernel, steps, digest, is_right);
}
