// Small allreduces and barriers, back to back, while ranks die at any moment: who is in each sum?
//
//   same_sets MICROSECONDS VICTIM...
//
// The first victim ends itself (SIGKILL) by its clock so long after the first call, each further
// one half as long after the one before it. Each rank gives one bit, so that the result is the set
// of those who are in it. Once the sets lack all victims a few rounds follow. Each survivor prints
// how many sets differ from the one before, and a digest of all sets in their order.
#include <mpi.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "die_after.h"

enum { ROUNDS_AFTER = 40 };

int main(int argc, char** argv) {
  int rank, size, changes = 0, is_wrong = 0;
  uint64_t digest = 1, dead = 0, last;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const uint64_t own = UINT64_C(1) << rank;
  last = size == 64 ? ~UINT64_C(0) : (UINT64_C(1) << size) - 1;
  MPI_Barrier(MPI_COMM_WORLD);
  long microseconds = strtol(argv[1], NULL, 10);
  for (int i = 2; i < argc; ++i) {
    const int victim = (int)strtol(argv[i], NULL, 10);
    dead |= UINT64_C(1) << victim;
    if (victim == rank) die_after(microseconds);
    microseconds += microseconds / 2;
  }
  for (int left = ROUNDS_AFTER, round = 0; left > 0; ++round) {
    uint64_t set = 0;
    if (MPI_Allreduce(&own, &set, 1, MPI_UINT64_T, MPI_BOR, MPI_COMM_WORLD) != MPI_SUCCESS ||
        (set & own) == 0 || (set & ~last) != 0)
      is_wrong = 1;
    if (set != last) ++changes;
    last = set;
    digest = (digest ^ set) * UINT64_C(0x100000001b3);
    if (round % 3 == 0) MPI_Barrier(MPI_COMM_WORLD);
    if ((set & dead) == 0) --left;
  }
  printf("%s after %d changes: %016llx\n", is_wrong ? "wrong" : "right", changes,
         (unsigned long long)digest);
  fflush(stdout);
  MPI_Finalize();
  return 0;
}
