/* MPI_Finalize on the way out of main.
 *
 *   partings_at_exit handler       an exit handler from before MPI_Init calls it
 *   partings_at_exit destructor    a destructor of the program, which runs after all of these
 *   partings_at_exit quick RANK    that rank ends by quick_exit, without it
 *   partings_at_exit status RANK   that rank exits with status 3 in an exit handler's stead
 */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char mode[32];
static int rank = -1;

static void end_mpi(const char* who) {
  int is_initialized = 0, is_finalized = 0, one = 1, all = 0;
  MPI_Initialized(&is_initialized);
  MPI_Finalized(&is_finalized);
  if (is_initialized == 0 || is_finalized != 0) return;
  MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  if (rank == 0) printf("%s: %d came to the end\n", who, all);
  fflush(stdout);
}

static void at_exit(void) { end_mpi("handler"); }

__attribute__((destructor)) static void at_unload(void) {
  if (strcmp(mode, "destructor") == 0) end_mpi("destructor");
}

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  snprintf(mode, sizeof mode, "%s", argv[1]);
  if (strcmp(mode, "handler") == 0) atexit(at_exit);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Barrier(MPI_COMM_WORLD);
  if (argc > 2 && rank == (int)strtol(argv[2], NULL, 10)) {
    if (strcmp(mode, "quick") == 0) quick_exit(3);
    exit(3);
  }
  if (argc > 2) end_mpi(mode);
  return 0;
}
