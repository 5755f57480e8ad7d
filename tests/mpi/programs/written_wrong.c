/* A file that all ranks write together through MPI, with a view, and sync half way; rank 1 of PLANE
   writes a wrong word in the half that HALF says.

   written_wrong FILE HALF PLANE */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { words = 1000, halves = 2 };

int main(int argc, char** argv) {
  int rank, size, numbers[words];
  MPI_File file;
  MPI_Datatype mine;
  MPI_Init(&argc, &argv);
  if (argc != 4) MPI_Abort(MPI_COMM_WORLD, 2);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const char* replica = getenv("RESPROUT_REPLICA");
  const int is_wrong = rank == 1 && replica != NULL && atoi(replica) == atoi(argv[3]);
  MPI_Type_vector(halves * words / 10, 10, 10 * size, MPI_INT, &mine);
  MPI_Type_commit(&mine);
  MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  MPI_File_set_view(file, (MPI_Offset)(rank * 10) * (MPI_Offset)sizeof(int), MPI_INT, mine,
                    "native", MPI_INFO_NULL);
  for (int half = 0; half < halves; ++half) {
    for (int i = 0; i < words; ++i) numbers[i] = (half * size + rank) * words + i;
    if (is_wrong && half == atoi(argv[2])) numbers[17] ^= 64;
    MPI_File_write_all(file, numbers, words, MPI_INT, MPI_STATUS_IGNORE);
    if (half == 0) MPI_File_sync(file);
  }
  MPI_File_close(&file);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Type_free(&mine);
  MPI_Finalize();
  return 0;
}
