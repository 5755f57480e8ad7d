// Broadcasts and exchanges with datatypes that functions with large counts have made: MPI 4 has
// them.
#include <mpi.h>

#if MPI_VERSION >= 4
#  include <stdio.h>
#  include <string.h>

enum { room = 64 };
static int wrong = 0;

// Rank 0 says one of these; the others have its elements then, and nothing else.
static void try_it(MPI_Datatype type, const char* name) {
  int rank, here[room], packed[room], whole[room];
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Type_commit(&type);
  for (int i = 0; i < room; ++i) whole[i] = i;
  for (int i = 0; i < room; ++i) here[i] = rank == 0 ? i : -1;
  MPI_Bcast(here, 1, type, 0, MPI_COMM_WORLD);
  int position = 0, expected[room];
  memset(expected, -1, sizeof expected);
  MPI_Pack(whole, 1, type, packed, sizeof packed, &position, MPI_COMM_SELF);
  int at = 0;
  MPI_Unpack(packed, position, &at, expected, 1, type, MPI_COMM_SELF);
  if (memcmp(here, rank == 0 ? whole : expected, sizeof here) != 0) {
    printf("rank %d: %s is wrong\n", rank, name);
    ++wrong;
  }
  MPI_Type_free(&type);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const MPI_Count lengths[] = {1, 2, 3}, indices[] = {1, 4, 9}, bytes[] = {4, 16, 36};
  const MPI_Datatype types[] = {MPI_INT, MPI_FLOAT, MPI_INT};
  const MPI_Count sizes[] = {6, 6}, taken[] = {2, 3}, starts[] = {1, 1};
  const int distributions[] = {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_BLOCK};
  const int arguments[] = {MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG}, grid[] = {2, 2};
  MPI_Datatype type, base;
  for (int round = 0; round < 3; ++round) {
    MPI_Type_contiguous_c(5, MPI_INT, &type), try_it(type, "contiguous");
    MPI_Type_vector_c(4, 2, 5, MPI_INT, &type), try_it(type, "vector");
    MPI_Type_create_hvector_c(4, 2, 20, MPI_INT, &type), try_it(type, "hvector");
    MPI_Type_indexed_c(3, lengths, indices, MPI_INT, &type), try_it(type, "indexed");
    MPI_Type_create_hindexed_c(3, lengths, bytes, MPI_INT, &type), try_it(type, "hindexed");
    MPI_Type_create_indexed_block_c(3, 2, indices, MPI_INT, &type), try_it(type, "indexed_block");
    MPI_Type_create_hindexed_block_c(3, 2, bytes, MPI_INT, &type), try_it(type, "hindexed_block");
    MPI_Type_create_struct_c(3, lengths, bytes, types, &type), try_it(type, "struct");
    MPI_Type_create_subarray_c(2, sizes, taken, starts, MPI_ORDER_C, MPI_INT, &type);
    try_it(type, "subarray");
    MPI_Type_create_darray_c(4, 2, 2, sizes, distributions, arguments, grid, MPI_ORDER_C, MPI_INT,
                             &type);
    try_it(type, "darray");
    MPI_Type_create_resized_c(MPI_INT, 0, 12, &base);
    MPI_Type_contiguous_c(4, base, &type), try_it(type, "resized");
    MPI_Type_free(&base);
  }
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (wrong == 0) printf("rank %d ok\n", rank);
  MPI_Finalize();
  return wrong != 0;
}
#else
int main(void) { return 1; }
#endif
