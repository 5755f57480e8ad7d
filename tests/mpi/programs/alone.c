// `alone [unreadable]`: sums, broadcasts and a ring of messages; who may not be looked at by the
// others has asked for that before MPI_Init. Rank 0 says how many took part in the last sum.
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>

enum { rounds = 20, words = 40000 };

int main(int argc, char** argv) {
  if (argc > 1 && strcmp(argv[1], "unreadable") == 0) prctl(PR_SET_DUMPABLE, 0);
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  int rank = 0, size = 0, sum = 0, wrong = 0;
  static int block[words];
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int round = 0; round < rounds; ++round) {
    const int one = 1;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < words; ++i) block[i] = rank == 0 ? round + i : -1;
    MPI_Bcast(block, words, MPI_INT, 0, MPI_COMM_WORLD);
    for (int i = 0; i < words; ++i) wrong += block[i] != round + i;
    int from = -1;
    const int error = MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 0, &from, 1, MPI_INT,
                                   (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    wrong += error == MPI_SUCCESS && from != (rank + size - 1) % size;
  }
  if (wrong != 0) printf("rank %d got %d wrong words\n", rank, wrong);
  if (rank == 0) printf("%d are here\n", sum);
  MPI_Finalize();
  return 0;
}
