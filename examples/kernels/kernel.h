// What the kernels share: their arguments, numbers that look random, and the line they end with.
//
//   KERNEL [CLASS [ITERATIONS]]     S is the smallest class, then W and A
//
// A kernel checks its own result: it exits with 0 if that is right, with 1 if not, with 2 if its
// arguments or the number of ranks are wrong. Its digest depends on class and iterations, not on
// the number of ranks.
#ifndef RESPROUT_EXAMPLES_KERNEL_H
#define RESPROUT_EXAMPLES_KERNEL_H

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct kernel {
  const char* name;
  int class_number;  // 0: S, 1: W, 2: A
  int iterations;
  int rank;
  int size;
  double began;  // seconds
};

static const char kernel_classes[] = "SWA";

// Says why, once, and ends the program on all ranks. To be called by all of them.
static inline void kernel_refuse(const struct kernel* kernel, const char* why) {
  if (kernel->rank == 0) fprintf(stderr, "%s: %s\n", kernel->name, why);
  MPI_Finalize();
  exit(2);
}

// MPI_Init, and the arguments. `iterations`: how many there are if no number is given.
static inline struct kernel kernel_begin(int argc, char** argv, const char* name, int iterations) {
  struct kernel kernel = {name, 0, iterations, 0, 1, 0.0};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &kernel.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &kernel.size);
  const char* given = argc > 1 ? argv[1] : "S";
  const char* found = strlen(given) == 1 ? strchr(kernel_classes, given[0]) : NULL;
  char* end = NULL;
  const long number = argc > 2 ? strtol(argv[2], &end, 10) : iterations;
  if (found == NULL || argc > 3)
    kernel_refuse(&kernel, "arguments are [CLASS [ITERATIONS]]; CLASS is one of S, W, A");
  if (number < 1 || number > 1000000 || (end != NULL && *end != '\0'))
    kernel_refuse(&kernel, "ITERATIONS is a number from 1 to 1000000");
  kernel.class_number = (int)(found - kernel_classes);
  kernel.iterations = (int)number;
  kernel.began = MPI_Wtime();
  return kernel;
}

static inline void* kernel_memory(size_t count, size_t size) {
  void* memory = calloc(count > 0 ? count : 1, size);
  if (memory == NULL) {
    fprintf(stderr, "not enough memory for %zu elements\n", count);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  return memory;
}

// 64 bits from a number: every rank can compute what belongs to any index. (splitmix64's last
// step.)
static inline uint64_t kernel_hash(uint64_t x) {
  x = (x + 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 31)) * 0x94d049bb133111ebu;
  return x ^ (x >> 29);
}

// In [0, 1), from a number.
static inline double kernel_uniform(uint64_t x) {
  return (double)(kernel_hash(kernel_hash(x)) >> 11) * 0x1p-53;
}

// What element `index` with value `bits` adds to a digest. Digests are sums, so that nothing
// depends on who adds what, and when.
static inline uint64_t kernel_digest(uint64_t index, uint64_t bits) {
  return kernel_hash(kernel_hash(index) ^ bits);
}

// Where the part of `part` of `parts` begins, of `count` things in all.
static inline int kernel_begin_of(int part, int parts, int count) {
  return (int)((int64_t)count * part / parts);
}

// The line, and MPI_Finalize. `digest` and `is_right` are this rank's; `result` is everybody's.
// Returns what main returns. The lowest rank that still answers speaks for all.
static inline int kernel_end(const struct kernel* kernel, double result, uint64_t digest,
                             int is_right) {
  double seconds = MPI_Wtime() - kernel->began;
  int lowest[2] = {kernel->rank, is_right};
  MPI_Allreduce(MPI_IN_PLACE, &digest, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, lowest, 2, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (kernel->rank == lowest[0])
    printf("%s class=%c ranks=%d iterations=%d result=%.10g digest=%016llx seconds=%.3f %s\n",
           kernel->name, kernel_classes[kernel->class_number], kernel->size, kernel->iterations,
           result, (unsigned long long)digest, seconds,
           lowest[1] ? "verified" : "VERIFICATION FAILED");
  MPI_Finalize();
  return lowest[1] ? 0 : 1;
}

#endif
