/* What mixed.c and blocks.c have in common: the communicators, the log, the contributions that tell
 * who gave them, and the end of it all.
 *
 * The log is FOLDER/rank-N; what takes all ranks' words is for who reads it (logs.py does):
 *
 *   E number time                                   an operation is entered
 *   R number time name comm root code mask digest   it has returned; mask: who contributed;
 *                                                   root: in comm; code: 1 if processes failed
 *   D                                               all is done
 *
 * Under Resprout, who contributed is also what resprout_contributors says.
 */
#include <fcntl.h>
#include <mpi.h>
#include <resprout/resprout.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* What a rank may know alone: a wrong result ends the process with status 1. */
#define CHECK(condition)                                                                      \
  do {                                                                                        \
    if (!(condition)) {                                                                       \
      fprintf(stderr, "WRONG: rank %d, operation %ld (%s): %s\n", rank, number, current.name, \
              #condition);                                                                    \
      fflush(stderr);                                                                         \
      exit(1);                                                                                \
    }                                                                                         \
  } while (0)

enum { ranks_max = 31, mebibyte = 1 << 20, rest_us = 10000 };

/* A sequence of ranks; the operator strings two of them together. */
struct Sequence {
  unsigned char length;
  unsigned char ranks[ranks_max];
};

/* What of an operation goes into the log. */
struct Entry {
  const char* name;
  int which_comm, root;
};

static int rank, size, log_fd, comm_count = 1;
static long number;
static uint64_t seed;
static struct Entry current;
static MPI_Comm comms[3];
static const char* comm_names[3];
static char enough[4096]; /* the file that says so */
static MPI_Datatype sequence_type;
static MPI_Op string_together;

static inline uint64_t mixed(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}
static inline int below(uint64_t* state, int limit) {
  *state = mixed(*state);
  return (int)(*state % (uint64_t)limit);
}

static inline int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static inline uint64_t digest_of(const void* data, size_t bytes) {
  const unsigned char* at = data;
  uint64_t hash = 0xcbf29ce484222325u;
  for (size_t i = 0; i < bytes; ++i) hash = (hash ^ at[i]) * 0x100000001b3u;
  return hash;
}

/* --- the log -----------------------------------------------------------------------------------*/

/* One system call a line: what was written stays, whatever happens to us. */
static inline void write_down(const char* line) {
  if (write(log_fd, line, strlen(line)) < 0) exit(1);
}
static inline void note_entry(void) {
  char line[64];
  snprintf(line, sizeof line, "E %ld %lld\n", number, (long long)now_ns());
  write_down(line);
}
static inline void note_return(int code, uint64_t mask, uint64_t digest) {
  char line[160];
  snprintf(line, sizeof line, "R %ld %lld %s %s %d %d %llu %llx\n", number, (long long)now_ns(),
           current.name, comm_names[current.which_comm], current.root, code,
           (unsigned long long)mask, (unsigned long long)digest);
  write_down(line);
}

static inline int is_failed(int code) {
  char text[MPI_MAX_ERROR_STRING];
  int length;
  if (code == MPI_SUCCESS) return 0;
  MPI_Error_string(code, text, &length);
  return strstr(text, "PROC_FAILED") != NULL;
}

/* World ranks, as Resprout says; `otherwise` if it is not there. */
static inline uint64_t contributors(MPI_Comm comm, uint64_t otherwise) {
  if (!resprout_contributors) return otherwise;
  MPI_Group group, world;
  int ranks[ranks_max], world_ranks[ranks_max], count;
  uint64_t mask = 0;
  CHECK(resprout_contributors(comm, &group) == MPI_SUCCESS);
  MPI_Group_size(group, &count);
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  for (int i = 0; i < count; ++i) ranks[i] = i;
  MPI_Group_translate_ranks(group, count, ranks, world, world_ranks);
  for (int i = 0; i < count; ++i) mask |= (uint64_t)1 << world_ranks[i];
  MPI_Group_free(&world);
  if (group != MPI_GROUP_EMPTY) MPI_Group_free(&group);
  return mask;
}

/* --- contributions: 2^rank times a known factor, or sequences of one rank ----------------------*/

/* What element i of this operation is multiplied with: never that of the last one. */
static inline int64_t factor(int i) { return (number % 89 + 1) * 8 + i % 7; }

static inline void fill_numbers(int64_t* numbers, int count) {
  for (int i = 0; i < count; ++i) numbers[i] = ((int64_t)1 << rank) * factor(i);
}

static inline void fill_sequences(struct Sequence* all, int count) {
  memset(all, 0, (size_t)count * sizeof *all);
  for (int i = 0; i < count; ++i) {
    all[i].length = 1;
    all[i].ranks[0] = (unsigned char)rank;
  }
}

static inline void append(void* in, void* inout, int* count, MPI_Datatype* type) {
  struct Sequence *left = in, *right = inout;
  (void)type;
  for (int i = 0; i < *count; ++i) {
    struct Sequence both = left[i];
    memcpy(both.ranks + both.length, right[i].ranks, right[i].length);
    both.length = (unsigned char)(both.length + right[i].length);
    right[i] = both;
  }
}

/* Who contributed: to every element the same ranks, each once. The first element is the one that
 * others call `first`. */
static inline uint64_t mask_of_sums(const int64_t* numbers, int count, int first) {
  int64_t mask = 0;
  for (int i = 0; i < count; ++i) {
    CHECK(numbers[i] % factor(first + i) == 0);
    if (i == 0) mask = numbers[i] / factor(first + i);
    CHECK(numbers[i] / factor(first + i) == mask);
  }
  CHECK(mask >= 0 && mask >> size == 0);
  return (uint64_t)mask;
}

/* In the order of the communicator's ranks, which runs backwards in the halves. */
static inline int is_in_order(int first, int second) {
  return current.which_comm == 2 ? first > second : first < second;
}

static inline uint64_t mask_of_sequences(const struct Sequence* all, int count) {
  uint64_t mask = 0;
  for (int i = 0; i < count; ++i) {
    uint64_t here = 0;
    CHECK(all[i].length <= size);
    for (int k = 0; k < all[i].length; ++k) {
      CHECK(all[i].ranks[k] < size);
      CHECK(k == 0 || is_in_order(all[i].ranks[k - 1], all[i].ranks[k]));
      here |= (uint64_t)1 << all[i].ranks[k];
    }
    if (i == 0) mask = here;
    CHECK(here == mask);
  }
  return mask;
}

/* --- from beginning to end ---------------------------------------------------------------------*/

static inline void begin(const char* folder, const char* the_seed, int only_world) {
  char path[4096];
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  seed = (uint64_t)strtoll(the_seed, NULL, 10);
  snprintf(enough, sizeof enough, "%s/enough", folder);
  snprintf(path, sizeof path, "%s/rank-%d", folder, rank);
  log_fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0666);
  if (log_fd < 0) {
    perror(path);
    exit(1);
  }
  comms[0] = MPI_COMM_WORLD;
  comm_names[0] = "world";
  if (!only_world) {
    int is_upper = rank >= size / 2;
    comm_count = 3;
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]);
    MPI_Comm_split(MPI_COMM_WORLD, is_upper, size - rank, &comms[2]);
    comm_names[1] = "dup";
    comm_names[2] = is_upper ? "upper" : "lower";
  }
  MPI_Type_contiguous((int)sizeof(struct Sequence), MPI_BYTE, &sequence_type);
  MPI_Type_commit(&sequence_type);
  MPI_Op_create(append, 0, &string_together);
}

/* Whether everybody has worked long enough: they all decide alike. Who waits to be told so rests
 * now and then, so that who says it gets a core, and the log does not grow until then. */
static inline int is_over(int64_t until_ns) {
  if (until_ns == 0) usleep(rest_us);
  int mine = until_ns > 0 ? now_ns() >= until_ns : access(enough, F_OK) == 0, all = 0;
  CHECK(MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD) == MPI_SUCCESS);
  return all;
}

static inline void end(void) {
  write_down("D\n");
  MPI_Op_free(&string_together);
  MPI_Type_free(&sequence_type);
  while (--comm_count > 0) MPI_Comm_free(&comms[comm_count]);
}
