/* Gathers, scatters, exchanges and scans by MPI_X, which the library under test stands in for, and
 * by PMPI_X, and compares every byte, gaps and what lies behind the buffers included.
 *
 *   equality_blocks ROUNDS [FUNCTION]
 *
 * Each round has random lengths, places, datatypes (another one on each rank, with the same ints in
 * it), roots, and operators, in place or not; all ranks choose alike. Only in MPI_Allgatherv all
 * ranks have the same datatypes: Open MPI 5.0 hangs if they have not.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ranks_max = 16, guard = 64, ints_in_unit = 6, type_count = 6, slack_units = 4 };

enum Function {
  gather,
  gatherv,
  scatter,
  scatterv,
  allgather,
  allgatherv,
  alltoall,
  alltoallv,
  alltoallw,
  scan,
  exscan,
  reduce_scatter,
  reduce_scatter_block,
  functions
};
static const char* const names[] = {"gather",
                                    "gatherv",
                                    "scatter",
                                    "scatterv",
                                    "allgather",
                                    "allgatherv",
                                    "alltoall",
                                    "alltoallv",
                                    "alltoallw",
                                    "scan",
                                    "exscan",
                                    "reduce_scatter",
                                    "reduce_scatter_block"};

/* So many elements are a unit: six ints, one way or the other. */
struct Type {
  MPI_Datatype handle;
  int per_unit;
  MPI_Aint extent;
};

static int rank, size; /* in comm */
static MPI_Comm comm;  /* the world in reverse order */
static struct Type types[type_count], gappy_matrix;
static MPI_Op product;
static uint64_t dice; /* the same on all ranks */

static uint64_t mixed(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}
static int below(int limit) {
  dice = mixed(dice);
  return (int)(dice % (uint64_t)limit);
}

/* --- one round -------------------------------------------------------------------------------- */

static enum Function function;
static long number;
static int root, is_in_place, is_varied, scale;
static uint64_t salt;

/* How many units rank `from` gives to rank `to`. */
static int units(int from, int to) {
  if (!is_varied) return (int)(mixed(salt) % 4) * scale;
  if (is_in_place && to < from) return units(to, from); /* what comes must fit where it was */
  return (int)(mixed(salt + (uint64_t)(from * ranks_max + to)) % 4) * scale;
}
static const struct Type* type_at(int where, int side) {
  return &types[mixed(salt + 1000u + (uint64_t)(2 * where + side)) % type_count];
}

/* A buffer with one piece for each rank, or with one piece alone. */
struct Side {
  int counts[ranks_max], displs[ranks_max]; /* in elements and extents */
  int byte_displs[ranks_max];
  MPI_Datatype handles[ranks_max]; /* of alltoallw */
  const struct Type* type;
  size_t bytes;
  unsigned char *got, *native, *before;
};

static void make_buffers(struct Side* side, size_t bytes, int seed) {
  side->bytes = bytes + guard;
  side->got = malloc(side->bytes);
  side->native = malloc(side->bytes);
  side->before = malloc(side->bytes);
  for (size_t i = 0; i < side->bytes; ++i)
    side->before[i] = (unsigned char)(mixed(salt + (uint64_t)seed * 7919u + i / 8) >> i % 8 * 8);
  memcpy(side->got, side->before, side->bytes);
  memcpy(side->native, side->before, side->bytes);
}

static void free_buffers(struct Side* side) {
  free(side->got);
  free(side->native);
  free(side->before);
}

/* `lengths[r]`: the units of the piece of rank r. Even pieces lie one behind the other, others
 * anywhere, in any order. */
static void lay_out(struct Side* side, const int* lengths, int pieces, int which) {
  int at = 0, is_w = function == alltoallw;
  size_t byte_at = 0;
  side->type = type_at(function == allgatherv ? 0 : rank, which);
  for (int i = 0; i < pieces; ++i) {
    int r = is_varied && mixed(salt + 5) % 2 ? pieces - 1 - i : i;
    const struct Type* type = is_w ? type_at(rank * ranks_max + r, which) : side->type;
    if (is_varied) at += (int)(mixed(salt + 77u + (uint64_t)(rank + r)) % 3);
    side->handles[r] = type->handle;
    side->counts[r] = lengths[r] * type->per_unit;
    side->displs[r] = at;
    side->byte_displs[r] = (int)byte_at;
    at += side->counts[r];
    byte_at += (size_t)(side->counts[r] + slack_units) * (size_t)type->extent;
  }
  size_t bytes = is_w ? byte_at : (size_t)(at + slack_units) * (size_t)side->type->extent;
  make_buffers(side, bytes + 128, 2 * rank + which);
}

static void check(const char* what, const unsigned char* got, const unsigned char* expected,
                  size_t bytes) {
  if (memcmp(got, expected, bytes) == 0) return;
  size_t i = 0;
  while (got[i] == expected[i]) ++i;
  fprintf(stderr, "WRONG: rank %d of %d, round %ld, %s%s: byte %zu of %s is %d, not %d\n", rank,
          size, number, names[function], is_in_place ? " in place" : "", i, what, got[i],
          expected[i]);
  exit(1);
}

/* --- the calls -------------------------------------------------------------------------------- */

static void move_blocks(struct Side* send, struct Side* receive, int is_native) {
  int is_root = rank == root;
  unsigned char* out = is_native ? send->native : send->got;
  unsigned char* in = is_native ? receive->native : receive->got;
  const void* from = is_in_place ? MPI_IN_PLACE : out;
  const void* from_root = is_in_place && is_root ? MPI_IN_PLACE : out;
  void* to_root = is_in_place && is_root ? MPI_IN_PLACE : in;
  int *sc = send->counts, *sd = send->displs, *rc = receive->counts, *rd = receive->displs;
  MPI_Datatype st = send->type->handle, rt = receive->type->handle;
#define EITHER(name, ...) \
  (is_native ? PMPI_##name(__VA_ARGS__, comm) : MPI_##name(__VA_ARGS__, comm))
  switch (function) {
    case gather:
      EITHER(Gather, from_root, sc[0], st, in, rc[0], rt, root);
      break;
    case gatherv:
      EITHER(Gatherv, from_root, sc[0], st, in, rc, rd, rt, root);
      break;
    case scatter:
      EITHER(Scatter, out, sc[0], st, to_root, rc[0], rt, root);
      break;
    case scatterv:
      EITHER(Scatterv, out, sc, sd, st, to_root, rc[0], rt, root);
      break;
    case allgather:
      EITHER(Allgather, from, sc[0], st, in, rc[0], rt);
      break;
    case allgatherv:
      EITHER(Allgatherv, from, sc[0], st, in, rc, rd, rt);
      break;
    case alltoall:
      EITHER(Alltoall, from, sc[0], st, in, rc[0], rt);
      break;
    case alltoallv:
      EITHER(Alltoallv, from, sc, sd, st, in, rc, rd, rt);
      break;
    case alltoallw:
      EITHER(Alltoallw, from, sc, send->byte_displs, send->handles, in, rc, receive->byte_displs,
             receive->handles);
      break;
    default:
      break;
  }
}

static void do_blocks(void) {
  struct Side send, receive;
  int out[ranks_max], in[ranks_max];
  int sends_one = function <= gatherv || function == allgather || function == allgatherv;
  int receives_one = function == scatter || function == scatterv;
  for (int r = 0; r < size; ++r) {
    out[r] = sends_one ? units(rank, 0) : units(rank, r);
    in[r] = sends_one ? units(r, 0) : units(r, rank);
    if (receives_one) out[r] = units(root, r);
  }
  if (receives_one) in[0] = units(root, rank);
  lay_out(&send, out, sends_one ? 1 : size, 0);
  lay_out(&receive, in, receives_one ? 1 : size, 1);
  move_blocks(&send, &receive, 0);
  move_blocks(&send, &receive, 1);
  check("the receive buffer", receive.got, receive.native, receive.bytes);
  check("the send buffer", send.got, send.before, send.bytes);
  free_buffers(&send);
  free_buffers(&receive);
}

static void fold(struct Side* send, struct Side* receive, const int* counts, MPI_Op op,
                 int is_native) {
  const void* out = is_in_place ? MPI_IN_PLACE : is_native ? send->native : send->got;
  void* in = is_native ? receive->native : receive->got;
  MPI_Datatype type = send->type->handle;
  int count = send->counts[0];
  switch (function) {
    case scan:
      EITHER(Scan, out, in, count, type, op);
      break;
    case exscan:
      EITHER(Exscan, out, in, count, type, op);
      break;
    case reduce_scatter:
      EITHER(Reduce_scatter, out, in, counts, type, op);
      break;
    default:
      EITHER(Reduce_scatter_block, out, in, counts[0], type, op);
      break;
  }
}

/* Sums of ints, or products of matrices, which do not commute. */
static void do_fold(void) {
  struct Side send = {0}, receive = {0};
  int is_matrix = (int)(mixed(salt + 9) % 2), all = 0, counts[ranks_max];
  is_varied = function == reduce_scatter;
  send.type = receive.type = is_matrix ? &gappy_matrix : &types[0];
  for (int r = 0; r < size; ++r) all += counts[r] = units(0, r) + (int)(mixed(salt + 3) % 2);
  send.counts[0] = function == scan || function == exscan ? counts[0] : all;
  size_t bytes = (size_t)all * (size_t)send.type->extent;
  make_buffers(&send, bytes, 2 * rank);
  make_buffers(&receive, bytes, 2 * rank + 1);
  fold(&send, &receive, counts, is_matrix ? product : MPI_SUM, 0);
  fold(&send, &receive, counts, is_matrix ? product : MPI_SUM, 1);
  /* In place, what lies behind the own part is not defined. */
  size_t defined = is_in_place && function >= reduce_scatter
                       ? (size_t)counts[rank] * (size_t)send.type->extent
                       : receive.bytes;
  check("the receive buffer", receive.got, receive.native, defined);
  check("the send buffer", send.got, send.before, send.bytes);
  free_buffers(&send);
  free_buffers(&receive);
}

static void do_round(void) {
  salt = mixed((uint64_t)number * 2654435761u + (uint64_t)below(1 << 30));
  root = below(size);
  is_in_place = below(3) == 0;
  scale = (const int[]){1, 1, 3, 20, 1200}[below(5)];
  is_varied = function == gatherv || function == scatterv || function == allgatherv ||
              function == alltoallv || function == alltoallw;
  if (function >= scan)
    do_fold();
  else
    do_blocks();
}

/* --- datatypes and operators ------------------------------------------------------------------ */

/* 2 x 2 matrices of unsigned numbers with gaps: products do not commute, and wrap around exactly.
 */
static void multiply(void* in, void* inout, int* count, MPI_Datatype* type) {
  uint32_t *left = in, *right = inout, c[4];
  (void)type;
  for (int i = 0; i < *count; ++i, left += 8, right += 8) {
    for (size_t k = 0; k < 4; ++k)
      c[k] = left[(k & 2) * 2] * right[(k & 1) * 2] +
             left[((k & 2) + 1) * 2] * right[((k & 1) + 2) * 2];
    for (size_t k = 0; k < 4; ++k) right[k * 2] = c[k];
  }
}

static struct Type made(MPI_Datatype from, MPI_Aint lb, MPI_Aint extent) {
  struct Type type = {MPI_DATATYPE_NULL, 1, extent};
  MPI_Type_create_resized(from, lb, extent, &type.handle);
  MPI_Type_commit(&type.handle);
  MPI_Type_free(&from);
  return type;
}

static void make_types(void) {
  MPI_Datatype vector, indexed, spaced, shifted, column, transposed, matrix;
  int lengths[] = {2, 1, 3}, places[] = {7, 0, 3}, start = 5;
  types[0] = (struct Type){MPI_INT, ints_in_unit, sizeof(int)};
  MPI_Type_vector(3, 2, 4, MPI_INT, &vector);
  types[1] = made(vector, 0, 40);
  MPI_Type_indexed(3, lengths, places, MPI_INT, &indexed);
  types[2] = made(indexed, 0, 36);
  MPI_Type_contiguous(6, MPI_INT, &spaced);
  types[3] = made(spaced, 0, 40);
  MPI_Type_create_indexed_block(1, 6, &start, MPI_INT, &shifted);
  types[4] = made(shifted, 4, 48);
  MPI_Type_vector(3, 1, 2, MPI_INT, &column);
  MPI_Type_create_hvector(2, 1, sizeof(int), column, &transposed);
  types[5] = made(transposed, 0, 24); /* without gaps, but in another order */
  MPI_Type_free(&column);
  MPI_Type_vector(4, 1, 2, MPI_UINT32_T, &matrix);
  gappy_matrix = made(matrix, 0, 32);
  MPI_Op_create(multiply, 0, &product);
}

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  MPI_Init(&argc, &argv);
  MPI_Group group, reversed;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int backwards[1][3] = {{size - 1, 0, -1}};
  MPI_Comm_group(MPI_COMM_WORLD, &group);
  MPI_Group_range_incl(group, 1, backwards, &reversed);
  MPI_Comm_create(MPI_COMM_WORLD, reversed, &comm);
  MPI_Comm_rank(comm, &rank);
  make_types();
  dice = (uint64_t)size;
  long rounds = strtol(argv[1], NULL, 10);
  for (number = 0; number < rounds; ++number)
    for (int f = 0; f < functions; ++f) {
      function = (enum Function)f;
      if (argc < 3 || strcmp(argv[2], names[f]) == 0) do_round();
    }
  for (int t = 1; t < type_count; ++t) MPI_Type_free(&types[t].handle);
  MPI_Type_free(&gappy_matrix.handle);
  MPI_Op_free(&product);
  MPI_Group_free(&reversed);
  MPI_Group_free(&group);
  MPI_Comm_free(&comm);
  if (rank == 0) printf("%ld rounds\n", rounds);
  MPI_Finalize();
  return 0;
}
