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

enum { ROUNDS_AFTER = 40, WORDS = 4 };

// A bit for each rank.
typedef struct {
  uint64_t words[WORDS];
} Set;

static void add(Set* set, int rank) { set->words[rank / 64] |= UINT64_C(1) << rank % 64; }
static int are_equal(const Set* a, const Set* b) { return memcmp(a, b, sizeof *a) == 0; }
static int is_within(const Set* a, const Set* b) {
  for (int i = 0; i < WORDS; ++i)
    if ((a->words[i] & ~b->words[i]) != 0) return 0;
  return 1;
}
static int have_common(const Set* a, const Set* b) {
  for (int i = 0; i < WORDS; ++i)
    if ((a->words[i] & b->words[i]) != 0) return 1;
  return 0;
}

int main(int argc, char** argv) {
  int rank, size, changes = 0, is_wrong = 0;
  uint64_t digest = 1;
  Set own = {0}, dead = {0}, last = {0};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size > 64 * WORDS) MPI_Abort(MPI_COMM_WORLD, 2);
  const int words = (size + 63) / 64;
  add(&own, rank);
  for (int r = 0; r < size; ++r) add(&last, r);
  MPI_Barrier(MPI_COMM_WORLD);
  long microseconds = strtol(argv[1], NULL, 10);
  for (int i = 2; i < argc; ++i) {
    const int victim = (int)strtol(argv[i], NULL, 10);
    add(&dead, victim);
    if (victim == rank) die_after(microseconds);
    microseconds += microseconds / 2;
  }
  for (int left = ROUNDS_AFTER, round = 0; left > 0; ++round) {
    Set set = {0};
    if (MPI_Allreduce(&own, &set, words, MPI_UINT64_T, MPI_BOR, MPI_COMM_WORLD) != MPI_SUCCESS ||
        !is_within(&own, &set) || !is_within(&set, &last))
      is_wrong = 1;
    if (!are_equal(&set, &last)) ++changes;
    last = set;
    for (int i = 0; i < words; ++i) digest = (digest ^ set.words[i]) * UINT64_C(0x100000001b3);
    if (round % 3 == 0) MPI_Barrier(MPI_COMM_WORLD);
    if (!have_common(&set, &dead)) --left;
  }
  printf("%s after %d changes: %016llx\n", is_wrong ? "wrong" : "right", changes,
         (unsigned long long)digest);
  fflush(stdout);
  MPI_Finalize();
  return 0;
}
