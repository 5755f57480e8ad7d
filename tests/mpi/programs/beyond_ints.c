/* Collectives of more bytes, or elements, than an int counts. Needs 5 GiB of memory a rank.
 *
 *   beyond_ints
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank;

static void check(int is_right, const char* what) {
  if (is_right) return;
  fprintf(stderr, "WRONG on rank %d: %s\n", rank, what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static unsigned char value(size_t i, int part) { return (unsigned char)(i * 7 + (size_t)part + 1); }

/* One element of 2.25 GiB in blocks of 1 MiB with 64 bytes between them. */
static void broadcast_with_gaps(void) {
  const size_t block = 1 << 20, step = block + 64, count = 2304;
  unsigned char* memory = malloc(count * step);
  MPI_Datatype one, all;
  MPI_Type_contiguous((int)block, MPI_BYTE, &one);
  MPI_Type_create_hvector((int)count, 1, (MPI_Aint)step, one, &all);
  MPI_Type_commit(&all);
  for (size_t i = 0; i < count; ++i) {
    memory[i * step] = rank == 0 ? value(i, 0) : 0;
    memory[i * step + block - 1] = rank == 0 ? value(i, 1) : 0;
    memory[i * step + block] = 99;
  }
  MPI_Bcast(memory, 1, all, 0, MPI_COMM_WORLD);
  for (size_t i = 0; i < count; ++i) {
    check(memory[i * step] == value(i, 0), "the beginning of a block");
    check(memory[i * step + block - 1] == value(i, 1), "the end of a block");
    check(memory[i * step + block] == 99, "what is between two blocks");
  }
  MPI_Type_free(&one);
  MPI_Type_free(&all);
  free(memory);
}

/* One element of 2.25 GiB without gaps. */
static void broadcast_struct(void) {
  const size_t part = 768u << 20;
  unsigned char* memory = malloc(3 * part);
  const int lengths[3] = {(int)part, (int)part, (int)part};
  const MPI_Aint places[3] = {0, (MPI_Aint)part, (MPI_Aint)(2 * part)};
  const MPI_Datatype parts[3] = {MPI_BYTE, MPI_BYTE, MPI_BYTE};
  MPI_Datatype all;
  MPI_Type_create_struct(3, lengths, places, parts, &all);
  MPI_Type_commit(&all);
  for (size_t i = 0; i < 3 * part; i += 4096) memory[i] = rank == 0 ? value(i / 4096, 0) : 0;
  MPI_Bcast(memory, 1, all, 0, MPI_COMM_WORLD);
  for (size_t i = 0; i < 3 * part; i += 4096)
    check(memory[i] == value(i / 4096, 0), "a byte of a struct");
  MPI_Type_free(&all);
  free(memory);
}

/* 2^31 elements and more in the sum, of which each rank gets a part. */
static void scatter_sum(void) {
  int size;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const size_t count = ((size_t)1 << 31) / (size_t)size + 5;
  unsigned char* memory = malloc(count * (size_t)size);
  unsigned char* part = malloc(count);
  memset(memory, 1 << rank, count * (size_t)size);
  memory[count * (size_t)rank] = 128;
  MPI_Reduce_scatter_block(memory, part, (int)count, MPI_BYTE, MPI_BOR, MPI_COMM_WORLD);
  const unsigned char all = (unsigned char)((1 << size) - 1);
  check(part[0] == ((all & ~(1 << rank)) | 128), "the first element of a part");
  for (size_t i = 1; i < count; i += 4093) check(part[i] == all, "an element of a part");
  check(part[count - 1] == all, "the last element of a part");
  free(memory);
  free(part);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  broadcast_with_gaps();
  broadcast_struct();
  scatter_sum();
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) puts("beyond ints");
  MPI_Finalize();
  return 0;
}
