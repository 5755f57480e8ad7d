/* A program that calls MPI in one of the ways in which programs do, and a profiling tool.
 *
 *   profiled calls|lookup|deep|below [RANK]
 *       sums 20 times; RANK kills itself after ten. Its calls are plain ones, of functions that it
 *       looks up in the library itself (opened with RTLD_LOCAL, or RTLD_DEEPBIND), or of PMPI_X
 *
 * Compiled with -DTOOL it is the tool: it counts MPI_Allreduce and says so at the end.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef TOOL

static int allreduces;

int MPI_Allreduce(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm) {
  ++allreduces;
  return PMPI_Allreduce(in, out, count, type, op, comm);
}

int MPI_Finalize(void) {
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) printf("the tool saw %d\n", allreduces);
  fflush(stdout);
  return PMPI_Finalize();
}

#else

static int (*init)(int*, char***) = MPI_Init;
static int (*finalize)(void) = MPI_Finalize;
static int (*allreduce)(const void*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm) = MPI_Allreduce;

static int look_up(int flags) {
  void* library = dlopen("libmpi.so.40", RTLD_NOW | RTLD_LOCAL | flags);
  if (library == NULL) return 0;
  *(void**)&init = dlsym(library, "MPI_Init");
  *(void**)&finalize = dlsym(library, "MPI_Finalize");
  *(void**)&allreduce = dlsym(library, "MPI_Allreduce");
  return init != NULL && finalize != NULL && allreduce != NULL;
}

int main(int argc, char** argv) {
  int rank = 0, one = 1, all = 0;
  if (argc < 2) return 2;
  if (strcmp(argv[1], "lookup") == 0 && !look_up(0)) return 2;
  if (strcmp(argv[1], "deep") == 0 && !look_up(RTLD_DEEPBIND)) return 2;
  if (strcmp(argv[1], "below") == 0) {
    init = PMPI_Init;
    finalize = PMPI_Finalize;
    allreduce = PMPI_Allreduce;
  }
  init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int victim = argc > 2 ? (int)strtol(argv[2], NULL, 10) : -1;
  for (int i = 0; i < 20; ++i) {
    if (i == 10 && rank == victim) raise(SIGKILL);
    allreduce(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  }
  if (rank == 0) printf("%d are here\n", all);
  fflush(stdout);
  finalize();
  return 0;
}

#endif
