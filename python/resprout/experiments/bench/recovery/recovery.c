/* How an allreduce ends into which processes die.
 *
 *   recovery FILE ulfm|told|transparent VICTIM...
 *
 * The victims kill themselves when they should enter the 200th allreduce. Each process writes two
 * times to its place in FILE (of CLOCK_REALTIME, in nanoseconds, as 64-bit integers): when an error
 * came back from that allreduce (0: none did; a victim: when it kills itself), and when it had the
 * result of the others (a victim: 0; if nobody dies, when it entered and when it had the result). A
 * few allreduces more follow. `ulfm`: whoever gets an error revokes the communicator, shrinks it
 * and tries again, by the MPI library's own calls. `told`: likewise, but under Resprout, which does
 * nothing then but tell the library of a death as soon as it knows.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <mpi.h>
#if defined(OPEN_MPI)
#  include <mpi-ext.h>
#endif
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { fatal_round = 200, rounds = 210 };

static MPI_Comm comm;
static int is_ulfm;

static int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int64_t* map_times(const char* path, int size) {
  const size_t bytes = (size_t)size * 2 * sizeof(int64_t);
  const int file = open(path, O_RDWR | O_CREAT, 0600);
  if (file < 0 || ftruncate(file, (off_t)bytes) != 0) return NULL;
  void* at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  return at == MAP_FAILED ? NULL : at;
}

static int replace_communicator(void) {
#if defined(OMPI_HAVE_MPI_EXT_FTMPI) && OMPI_HAVE_MPI_EXT_FTMPI
  MPI_Comm rest;
  PMPIX_Comm_revoke(comm);
  if (PMPIX_Comm_shrink(comm, &rest) != MPI_SUCCESS) return 0;
  comm = rest;
  return 1;
#else
  return 0;
#endif
}

static int call(const int64_t* mine, int64_t* sum) {
  return is_ulfm ? PMPI_Allreduce(mine, sum, 1, MPI_INT64_T, MPI_SUM, comm)
                 : MPI_Allreduce(mine, sum, 1, MPI_INT64_T, MPI_SUM, comm);
}

static int tell_mpi_at_once(void) {
  void (*tell)(void) = NULL;
  *(void**)&tell = dlsym(RTLD_DEFAULT, "resprout_tell_mpi_at_once");
  if (tell == NULL) return 0;
  tell();
  return 1;
}

/* The sum over those who are left; the time of the first error, if there was one. */
static int64_t allreduce(int64_t mine, int64_t* first_error) {
  int64_t sum = 0;
  while (call(&mine, &sum) != MPI_SUCCESS) {
    if (*first_error == 0) *first_error = now_ns();
    if (!is_ulfm || !replace_communicator()) {
      fprintf(stderr, "recovery: an allreduce failed for good\n");
      _exit(3);
    }
  }
  return sum;
}

int main(int argc, char** argv) {
  int rank = 0;
  int size = 0;
  int is_victim = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int64_t* times = argc >= 3 ? map_times(argv[1], size) : NULL;
  if (times == NULL) {
    fprintf(stderr, "usage: recovery FILE ulfm|told|transparent VICTIM...\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
    return 2;
  }
  is_ulfm = strcmp(argv[2], "transparent") != 0;
  if (strcmp(argv[2], "told") == 0 && !tell_mpi_at_once()) {
    fprintf(stderr, "recovery: `told` needs Resprout\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  int64_t left = (int64_t)size * (size + 1) / 2;
  for (int i = 3; i < argc; ++i) {
    const int victim = (int)strtol(argv[i], NULL, 10);
    is_victim = is_victim || victim == rank;
    left -= victim + 1;
  }
  comm = MPI_COMM_WORLD;
  if (is_ulfm) PMPI_Comm_split(MPI_COMM_WORLD, 0, rank, &comm);
  is_ulfm ? PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN)
          : MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  for (int round = 0; round < rounds; ++round) {
    int64_t first_error = 0;
    const int64_t entered = now_ns();
    if (round == fatal_round && is_victim) {
      times[2 * rank] = entered;
      kill(getpid(), SIGKILL);
    }
    const int64_t sum = allreduce(rank + 1, &first_error);
    if (round != fatal_round) continue;
    const int64_t done = now_ns();
    if (sum != left) {
      fprintf(stderr, "recovery: rank %d got %lld instead of %lld\n", rank, (long long)sum,
              (long long)left);
      _exit(3);
    }
    times[2 * rank + 1] = done;
    times[2 * rank] = argc > 3 ? first_error : entered;
  }
  MPI_Finalize();
  return 0;
}
