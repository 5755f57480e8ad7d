/* Computes the same collectives by MPI_X, which the library under test stands in for, and by
 * PMPI_X, and compares every byte, gaps and what lies behind the buffers included.
 *
 *   equality operators     all predefined operators with all datatypes that MPI allows for them
 *   equality layouts       derived datatypes: broadcast, and reductions with operators of our own
 *   equality sizes BYTES   up to so many bytes
 *
 * Values are such that every sum and product is exact, whatever the order.
 */
#include <mpi.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { guard = 64, long_double_bytes = 10 };

static int rank, size;
static long checks;
static MPI_Comm comm; /* the world in reverse order */

/* What an element is made of: `scalars` numbers of one kind, and then an int if it is a pair. */
enum Kind { integer, real, extended, boolean };
struct Type {
  const char* name;
  MPI_Datatype handle;
  enum Kind kind;
  int scalar_bytes, scalars, is_pair;
};

static void put(unsigned char* at, enum Kind kind, int bytes, int value) {
  if (kind == extended) {
    long double number = value;
    memcpy(at, &number, long_double_bytes);
  } else if (kind == real && bytes == 4) {
    float number = (float)value;
    memcpy(at, &number, 4);
  } else if (kind == real) {
    double number = value;
    memcpy(at, &number, 8);
  } else {
    int64_t number = value;
    memcpy(at, &number, (size_t)bytes); /* little-endian, as all that we run on */
  }
}

/* --- buffers -----------------------------------------------------------------------------------*/

static size_t bytes_of(MPI_Datatype type, int count) {
  MPI_Aint lb, extent, true_lb, true_extent;
  MPI_Type_get_extent(type, &lb, &extent);
  MPI_Type_get_true_extent(type, &true_lb, &true_extent);
  return (size_t)(extent * (count > 0 ? count : 1) + true_lb + true_extent) + guard;
}

/* Nothing but a pattern, that differs by rank. */
static unsigned char* new_buffer(size_t bytes) {
  unsigned char* buffer = malloc(bytes);
  memset(buffer, 0x50 + rank, bytes);
  return buffer;
}

/* Copies the elements and nothing between them. */
static void copy_elements(unsigned char* to, unsigned char* from, MPI_Datatype type, int count) {
  int room, position = 0, used;
  MPI_Pack_size(count, type, MPI_COMM_SELF, &room);
  void* packed = malloc((size_t)room + 1);
  MPI_Pack(from, count, type, packed, room, &position, MPI_COMM_SELF);
  used = position;
  position = 0;
  if (used > 0) MPI_Unpack(packed, used, &position, to, count, type, MPI_COMM_SELF);
  free(packed);
}

static void clear_padding(const struct Type* type, unsigned char* buffer, int count) {
  MPI_Aint lb, extent;
  if (type == NULL || type->kind != extended) return;
  MPI_Type_get_extent(type->handle, &lb, &extent);
  for (int i = 0; i < count; ++i)
    for (int k = 0; k < type->scalars; ++k)
      memset(buffer + i * extent + k * 16 + long_double_bytes, 0, 16 - long_double_bytes);
}

/* `got` must be `native` in its elements and untouched elsewhere. */
static void compare(const char* what, const struct Type* type, MPI_Datatype handle, int count,
                    unsigned char* got, unsigned char* native, const unsigned char* before) {
  size_t bytes = bytes_of(handle, count);
  unsigned char* expected = malloc(bytes);
  memcpy(expected, before, bytes);
  copy_elements(expected, native, handle, count);
  clear_padding(type, expected, count);
  clear_padding(type, got, count);
  ++checks;
  if (memcmp(got, expected, bytes) != 0) {
    size_t i = 0;
    while (got[i] == expected[i]) ++i;
    fprintf(stderr, "WRONG: rank %d of %d: %s, %s, %d elements: byte %zu is %d, not %d\n", rank,
            size, what, type ? type->name : "derived", count, i, got[i], expected[i]);
    exit(1);
  }
  free(expected);
}

/* Both ways, to all and to one, in place and not. */
static void check_reductions(const char* what, const struct Type* type, MPI_Datatype handle,
                             unsigned char* input, int count, MPI_Op op) {
  size_t bytes = bytes_of(handle, count);
  unsigned char *before = new_buffer(bytes), *got = new_buffer(bytes), *native = new_buffer(bytes);
  int root = (int)(checks % size), self;
  MPI_Comm_rank(comm, &self);
  MPI_Allreduce(input, got, count, handle, op, comm);
  PMPI_Allreduce(input, native, count, handle, op, comm);
  compare(what, type, handle, count, got, native, before);

  memcpy(got, before, bytes);
  MPI_Reduce(input, got, count, handle, op, root, comm);
  /* What everybody gets is what the root gets; the others get nothing. */
  compare(what, type, handle, self == root ? count : 0, got, native, before);

  memcpy(got, before, bytes);
  copy_elements(got, input, handle, count);
  MPI_Allreduce(MPI_IN_PLACE, got, count, handle, op, comm);
  compare(what, type, handle, count, got, native, before);

  memcpy(got, before, bytes);
  if (self == root) copy_elements(got, input, handle, count);
  MPI_Reduce(self == root ? MPI_IN_PLACE : input, got, count, handle, op, root, comm);
  compare(what, type, handle, self == root ? count : 0, got, native, before);
  free(before);
  free(got);
  free(native);
}

static void check_bcast(const char* what, MPI_Datatype at_root, int root_count, MPI_Datatype handle,
                        int count) {
  size_t bytes = bytes_of(handle, count), root_bytes = bytes_of(at_root, root_count);
  int root = (int)(checks % size), self;
  MPI_Comm_rank(comm, &self);
  if (self == root) {
    handle = at_root;
    count = root_count;
    bytes = root_bytes;
  }
  unsigned char *before = new_buffer(bytes), *got = new_buffer(bytes), *native = new_buffer(bytes);
  if (self == root)
    for (size_t i = 0; i < bytes; ++i)
      before[i] = got[i] = native[i] = (unsigned char)(i * 31 + (size_t)checks);
  MPI_Bcast(got, count, handle, root, comm);
  PMPI_Bcast(native, count, handle, root, comm);
  compare(what, NULL, handle, count, got, native, before);
  free(before);
  free(got);
  free(native);
}

/* --- predefined operators ----------------------------------------------------------------------*/

#define INTEGER(c, mpi) {#mpi, mpi, integer, sizeof(c), 1, 0}
#define REAL(c, mpi) {#mpi, mpi, real, sizeof(c), 1, 0}
#define COMPLEX(c, mpi) {#mpi, mpi, real, sizeof(c), 2, 0}

static void check_operator(const char* name, MPI_Op op, const struct Type* types, int type_count) {
  static const int counts[] = {0, 1, 3, 17, 1000};
  for (int t = 0; t < type_count; ++t)
    for (int c = 0; c < 5; ++c) {
      const struct Type* type = &types[t];
      MPI_Aint lb, extent;
      MPI_Type_get_extent(type->handle, &lb, &extent);
      unsigned char* input = new_buffer(bytes_of(type->handle, counts[c]));
      for (int i = 0; i < counts[c]; ++i) {
        unsigned char* at = input + i * extent;
        int bytes = type->kind == extended ? 16 : type->scalar_bytes;
        for (int k = 0; k < type->scalars; ++k) {
          int value = op == MPI_PROD ? 1 + (rank + i + k) % 2 : (rank * 7 + i * 3 + k) % 5;
          if (type->kind == boolean) value = value != 0;
          put(at + k * bytes, type->kind, type->scalar_bytes, value);
        }
        if (type->is_pair) put(at + bytes, integer, sizeof(int), rank * 11 + i % 3);
      }
      check_reductions(name, type, type->handle, input, counts[c], op);
      free(input);
    }
}
#define CHECK_OPERATOR(op, types) \
  check_operator(#op, op, types, (int)(sizeof(types) / sizeof *(types)))

static void check_operators(void) {
  const struct Type integers[] = {INTEGER(int, MPI_INT),
                                  INTEGER(long, MPI_LONG),
                                  INTEGER(short, MPI_SHORT),
                                  INTEGER(unsigned short, MPI_UNSIGNED_SHORT),
                                  INTEGER(unsigned, MPI_UNSIGNED),
                                  INTEGER(unsigned long, MPI_UNSIGNED_LONG),
                                  INTEGER(long long, MPI_LONG_LONG),
                                  INTEGER(unsigned long long, MPI_UNSIGNED_LONG_LONG),
                                  INTEGER(signed char, MPI_SIGNED_CHAR),
                                  INTEGER(unsigned char, MPI_UNSIGNED_CHAR),
                                  INTEGER(int8_t, MPI_INT8_T),
                                  INTEGER(int16_t, MPI_INT16_T),
                                  INTEGER(int32_t, MPI_INT32_T),
                                  INTEGER(int64_t, MPI_INT64_T),
                                  INTEGER(uint8_t, MPI_UINT8_T),
                                  INTEGER(uint16_t, MPI_UINT16_T),
                                  INTEGER(uint32_t, MPI_UINT32_T),
                                  INTEGER(uint64_t, MPI_UINT64_T),
                                  INTEGER(MPI_Aint, MPI_AINT),
                                  INTEGER(MPI_Offset, MPI_OFFSET),
                                  INTEGER(MPI_Count, MPI_COUNT)};
  const struct Type reals[] = {REAL(float, MPI_FLOAT),
                               REAL(double, MPI_DOUBLE),
                               {"MPI_LONG_DOUBLE", MPI_LONG_DOUBLE, extended, 16, 1, 0}};
  const struct Type complexes[] = {
      COMPLEX(float, MPI_C_FLOAT_COMPLEX),
      COMPLEX(double, MPI_C_DOUBLE_COMPLEX),
      {"MPI_C_LONG_DOUBLE_COMPLEX", MPI_C_LONG_DOUBLE_COMPLEX, extended, 16, 2, 0}};
  const struct Type booleans[] = {{"MPI_C_BOOL", MPI_C_BOOL, boolean, 1, 1, 0}};
  const struct Type bytes[] = {INTEGER(char, MPI_BYTE)};
  const struct Type pairs[] = {
      {"MPI_FLOAT_INT", MPI_FLOAT_INT, real, 4, 1, 1},
      {"MPI_DOUBLE_INT", MPI_DOUBLE_INT, real, 8, 1, 1},
      {"MPI_LONG_INT", MPI_LONG_INT, integer, 8, 1, 1},
      {"MPI_2INT", MPI_2INT, integer, 4, 1, 1},
      {"MPI_SHORT_INT", MPI_SHORT_INT, integer, 4, 1, 1}, /* the int stands at 4 */
      {"MPI_LONG_DOUBLE_INT", MPI_LONG_DOUBLE_INT, extended, 16, 1, 1}};
  CHECK_OPERATOR(MPI_MAX, integers);
  CHECK_OPERATOR(MPI_MAX, reals);
  CHECK_OPERATOR(MPI_MIN, integers);
  CHECK_OPERATOR(MPI_MIN, reals);
  CHECK_OPERATOR(MPI_SUM, integers);
  CHECK_OPERATOR(MPI_SUM, reals);
  CHECK_OPERATOR(MPI_SUM, complexes);
  CHECK_OPERATOR(MPI_PROD, integers);
  CHECK_OPERATOR(MPI_PROD, reals);
  CHECK_OPERATOR(MPI_PROD, complexes);
  CHECK_OPERATOR(MPI_LAND, integers);
  CHECK_OPERATOR(MPI_LAND, booleans);
  CHECK_OPERATOR(MPI_LOR, integers);
  CHECK_OPERATOR(MPI_LOR, booleans);
  CHECK_OPERATOR(MPI_LXOR, integers);
  CHECK_OPERATOR(MPI_LXOR, booleans);
  CHECK_OPERATOR(MPI_BAND, integers);
  CHECK_OPERATOR(MPI_BAND, bytes);
  CHECK_OPERATOR(MPI_BOR, integers);
  CHECK_OPERATOR(MPI_BOR, bytes);
  CHECK_OPERATOR(MPI_BXOR, integers);
  CHECK_OPERATOR(MPI_BXOR, bytes);
  CHECK_OPERATOR(MPI_MINLOC, pairs);
  CHECK_OPERATOR(MPI_MAXLOC, pairs);
}

/* --- derived datatypes and operators of our own ------------------------------------------------*/

static MPI_Datatype matrix, gappy_matrix, record;
struct Record {
  char letter;
  double number; /* seven bytes of nothing before it */
};

/* 2 x 2 matrices of unsigned numbers: products do not commute, and wrap around exactly. */
static void multiply(void* in, void* inout, int* count, MPI_Datatype* type) {
  size_t stride = *type == matrix ? 1 : 2, step = *type == matrix ? 4 : 8;
  uint32_t *left = in, *right = inout, c[4];
  for (int i = 0; i < *count; ++i, left += step, right += step) {
    for (size_t k = 0; k < 4; ++k)
      c[k] = left[(k & 2) * stride] * right[(k & 1) * stride] +
             left[((k & 2) + 1) * stride] * right[((k & 1) + 2) * stride];
    for (size_t k = 0; k < 4; ++k) right[k * stride] = c[k];
  }
}

static void add_records(void* in, void* inout, int* count, MPI_Datatype* type) {
  struct Record *left = in, *right = inout;
  (void)type;
  for (int i = 0; i < *count; ++i) {
    right[i].letter = (char)(right[i].letter + left[i].letter);
    right[i].number += left[i].number;
  }
}

static MPI_Datatype committed(MPI_Datatype type) {
  MPI_Type_commit(&type);
  return type;
}

static MPI_Datatype resized(MPI_Datatype type, MPI_Aint lb, MPI_Aint extent) {
  MPI_Datatype result;
  MPI_Type_create_resized(type, lb, extent, &result);
  MPI_Type_free(&type);
  return committed(result);
}

static void make_reducible_types(void) {
  MPI_Type_contiguous(4, MPI_UINT32_T, &matrix);
  MPI_Type_commit(&matrix);
  MPI_Type_vector(4, 1, 2, MPI_UINT32_T, &gappy_matrix);
  gappy_matrix = resized(gappy_matrix, 0, 32);
  int lengths[] = {1, 1};
  MPI_Aint places[] = {offsetof(struct Record, letter), offsetof(struct Record, number)};
  MPI_Datatype parts[] = {MPI_CHAR, MPI_DOUBLE};
  MPI_Type_create_struct(2, lengths, places, parts, &record);
  record = resized(record, 0, sizeof(struct Record));
}

static void check_own_operators(void) {
  static const int counts[] = {0, 1, 5, 300, 4000};
  MPI_Op product, commuting_sum;
  MPI_Op_create(multiply, 0, &product);
  MPI_Op_create(add_records, 1, &commuting_sum);
  for (int c = 0; c < 5; ++c) {
    int count = counts[c];
    uint32_t* dense = (uint32_t*)new_buffer(bytes_of(matrix, count));
    uint32_t* gappy = (uint32_t*)new_buffer(bytes_of(gappy_matrix, count));
    struct Record* records = (struct Record*)new_buffer(bytes_of(record, count));
    for (int i = 0; i < 4 * count; ++i)
      dense[i] = gappy[2 * i] = (uint32_t)(rank * 2654435 + i * 40503 + 7);
    for (int i = 0; i < count; ++i) {
      records[i].letter = (char)(rank + i % 3);
      records[i].number = rank * 3 + i;
    }
    check_reductions("a product", NULL, matrix, (unsigned char*)dense, count, product);
    check_reductions("a product", NULL, gappy_matrix, (unsigned char*)gappy, count, product);
    check_reductions("a sum", NULL, record, (unsigned char*)records, count, commuting_sum);
    free(dense);
    free(gappy);
    free(records);
  }
  MPI_Op_free(&product);
  MPI_Op_free(&commuting_sum);
}

static void check_layouts(void) {
  static const int counts[] = {0, 1, 2, 33, 5000};
  MPI_Datatype vector, indexed, shifted, spaced, column, transposed;
  int lengths[] = {2, 1, 3}, places[] = {7, 0, 3};
  MPI_Type_vector(3, 2, 4, MPI_INT, &vector);
  vector = committed(vector);
  MPI_Type_indexed(3, lengths, places, MPI_INT, &indexed);
  indexed = committed(indexed);
  MPI_Type_contiguous(6, MPI_INT, &spaced);
  spaced = resized(spaced, 0, 40);
  int start = 5;
  MPI_Type_create_indexed_block(1, 6, &start, MPI_INT, &shifted);
  shifted = resized(shifted, 4, 48);
  MPI_Type_vector(3, 1, 2, MPI_INT, &column);
  MPI_Type_create_hvector(2, 1, sizeof(int), column, &transposed);
  transposed = committed(transposed);
  MPI_Type_free(&column);
  make_reducible_types();
  check_own_operators();
  /* Each has six ints an element: so many of one kind may be sent, and received as another. */
  MPI_Datatype six[] = {vector, indexed, spaced, shifted, transposed};
  enum { kinds = sizeof six / sizeof *six };
  for (int c = 0; c < 5; ++c) {
    for (int i = 0; i < kinds; ++i) {
      check_bcast("a broadcast", MPI_INT, 6 * counts[c], six[i], counts[c]);
      for (int k = 0; k < kinds; ++k)
        check_bcast("a broadcast", six[k], counts[c], six[i], counts[c]);
    }
    check_bcast("a broadcast", record, counts[c], record, counts[c]);
    check_bcast("a broadcast", MPI_DOUBLE_INT, counts[c], MPI_DOUBLE_INT, counts[c]);
    check_bcast("a broadcast", gappy_matrix, counts[c], matrix, counts[c]);
  }
  for (int i = 0; i < kinds; ++i) MPI_Type_free(&six[i]);
  MPI_Type_free(&matrix);
  MPI_Type_free(&gappy_matrix);
  MPI_Type_free(&record);
}

/* --- sizes -------------------------------------------------------------------------------------*/

static void check_size(size_t bytes) {
  int count = (int)(bytes / sizeof(double));
  double* reals = (double*)new_buffer(bytes_of(MPI_DOUBLE, count));
  int32_t* integers = (int32_t*)new_buffer(bytes_of(MPI_INT32_T, 2 * count));
  for (int i = 0; i < count; ++i) reals[i] = rank * 3 + i % 1000;
  for (int i = 0; i < 2 * count; ++i) integers[i] = (int32_t)(rank * 1000003 + i);
  const struct Type real_type = REAL(double, MPI_DOUBLE);
  const struct Type integer_type = INTEGER(int32_t, MPI_INT32_T);
  check_reductions("MPI_SUM", &real_type, MPI_DOUBLE, (unsigned char*)reals, count, MPI_SUM);
  check_reductions("MPI_BXOR", &integer_type, MPI_INT32_T, (unsigned char*)integers, 2 * count,
                   MPI_BXOR);
  for (int i = 0; i < 2; ++i)
    check_bcast("a broadcast", MPI_BYTE, (int)bytes, MPI_BYTE, (int)bytes);
  free(reals);
  free(integers);
}

/* Around the powers of eight, and then the largest. */
static void check_sizes(size_t bytes_max) {
  check_size(0);
  for (size_t bytes = 8; bytes < bytes_max && bytes <= 2 << 20; bytes *= 8) {
    check_size(bytes - 8);
    check_size(bytes);
    check_size(bytes + 8);
  }
  check_size(bytes_max);
}

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Group group, reversed;
  int backwards[1][3] = {{size - 1, 0, -1}};
  MPI_Comm_group(MPI_COMM_WORLD, &group);
  MPI_Group_range_incl(group, 1, backwards, &reversed);
  MPI_Comm_create(MPI_COMM_WORLD, reversed, &comm);
  if (strcmp(argv[1], "operators") == 0) check_operators();
  if (strcmp(argv[1], "layouts") == 0) check_layouts();
  if (strcmp(argv[1], "sizes") == 0 && argc > 2) check_sizes((size_t)strtoll(argv[2], NULL, 10));
  MPI_Group_free(&reversed);
  MPI_Group_free(&group);
  MPI_Comm_free(&comm);
  if (rank == 0) printf("%ld checks\n", checks);
  MPI_Finalize();
  return 0;
}
