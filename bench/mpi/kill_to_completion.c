// How long the survivors of a killed rank stay in the operation that the kill fell into.
//
//   kill_to_completion FILE bcast|allreduce VICTIM|-1
//
// The victim kills itself when it should enter its 200th operation. Each process writes a time (of
// CLOCK_MONOTONIC, in nanoseconds, as a 64-bit integer) to its rank's place in FILE: the victim
// when it kills itself, the others when that operation has returned. A few operations more follow.
//
// With -1 others take somebody away: operations go on until one has taken as long as only a loss
// does, or has failed, and its end is what is written. Before that 1 says that all are at work.
#include <fcntl.h>
#include <mpi.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { fatal_round = 200, rounds = 220, loss_ns = 500000000 };

static int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int64_t* map_times(const char* path, int size) {
  const size_t bytes = (size_t)size * sizeof(int64_t);
  const int file = open(path, O_RDWR | O_CREAT, 0600);
  if (file < 0 || ftruncate(file, (off_t)bytes) != 0) return NULL;
  void* at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  return at == MAP_FAILED ? NULL : at;
}

static int run_operation(int is_bcast, int root, int rank) {
  double mine = rank;
  double sum = 0;
  return is_bcast ? MPI_Bcast(&sum, 1, MPI_DOUBLE, root, MPI_COMM_WORLD)
                  : MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

// All who live see the same long operation.
static void run_until_loss(int is_bcast, int rank, int64_t* time) {
  int64_t began = 0;
  int code = MPI_SUCCESS;
  for (int round = 0; round < fatal_round; ++round) run_operation(is_bcast, 0, rank);
  *time = 1;
  do {
    began = now_ns();
    code = run_operation(is_bcast, 0, rank);
  } while (code == MPI_SUCCESS && now_ns() - began < loss_ns);
  *time = now_ns();
  for (int round = fatal_round; round < rounds && code == MPI_SUCCESS; ++round)
    run_operation(is_bcast, 0, rank);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);  // the victim may be a root
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int64_t* times = argc == 4 ? map_times(argv[1], size) : NULL;
  if (times == NULL) {
    fprintf(stderr, "usage: kill_to_completion FILE bcast|allreduce VICTIM|-1\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
    return 2;
  }
  const int is_bcast = strcmp(argv[2], "bcast") == 0;
  const int victim = (int)strtol(argv[3], NULL, 10);
  if (victim < 0) {
    run_until_loss(is_bcast, rank, &times[rank]);
    MPI_Finalize();
    return 0;
  }
  for (int round = 0; round < rounds; ++round) {
    if (round == fatal_round) MPI_Barrier(MPI_COMM_WORLD);  // all are in the same operation
    if (round == fatal_round && rank == victim) {
      times[rank] = now_ns();
      kill(getpid(), SIGKILL);
    }
    run_operation(is_bcast, round > fatal_round ? (victim + 1) % size : victim, rank);
    if (round == fatal_round) times[rank] = now_ns();
  }
  MPI_Finalize();
  return 0;
}
