// Of two ranks: one MPI_Win_test after a barrier finds that the other one has completed its epoch.
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, memory = 0, missed = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Win window;
  MPI_Win_create(&memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Group all, other;
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Group_excl(all, 1, &rank, &other);
  for (int i = 0; i < 50; ++i) {
    int is_over = 0;
    if (rank == 0) MPI_Win_start(other, 0, window);
    if (rank == 1) MPI_Win_post(other, 0, window);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) MPI_Win_complete(window);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) continue;
    MPI_Win_test(window, &is_over);
    missed += !is_over;
    if (!is_over) MPI_Win_wait(window);
  }
  if (missed == 0) printf("rank %d ok\n", rank);
  MPI_Win_free(&window);
  MPI_Finalize();
  return missed != 0;
}
