/* A long, random mix of collectives that checks each result and writes down what it saw.
 *
 *   mixed FOLDER SEED MILLISECONDS LARGE_PERCENT [world]
 *
 * On the world, a duplicate of it and the two halves of it: allreduce of integers, doubles, in
 * place and with an operator that does not commute, reduce, bcast, barrier; of no, few and many
 * elements, LARGE_PERCENT of them of 1 MiB. A last argument `world` leaves out the other
 * communicators. It runs until every rank has worked for so long (0: until there is a file
 * FOLDER/enough), and 200 operations. What a rank may know alone is checked here (a wrong result
 * ends the process with status 1); what takes all ranks' words is for who reads FOLDER/rank-N
 * (logs.py does):
 *
 *   E number time                                   an operation is entered
 *   R number time name comm root code mask digest   it has returned; mask: who contributed;
 *                                                   root: in comm; code: 1 if processes failed
 *
 * Under Resprout, who contributed is also what resprout_contributors says.
 *   D                                               all is done
 *
 * Each rank contributes 2^rank times a known factor, so that a sum tells who contributed.
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

#define CHECK(condition)                                                                   \
  do {                                                                                     \
    if (!(condition)) {                                                                    \
      fprintf(stderr, "WRONG: rank %d, operation %ld (%s): %s\n", rank, number, plan.name, \
              #condition);                                                                 \
      fflush(stderr);                                                                      \
      exit(1);                                                                             \
    }                                                                                      \
  } while (0)

enum { ranks_max = 31, mebibyte = 1 << 20, bytes_max = mebibyte + 4096, operations_min = 200 };

/* A sequence of ranks; the operator strings two of them together. */
struct Sequence {
  unsigned char length;
  unsigned char ranks[ranks_max];
};

struct Plan {
  const char* name;
  int kind, which_comm, root, count, pause_us;
};
enum { sum_long, sum_double, strung, in_place, bcast, reduce, reduce_strung, barrier, kinds };
static const char* const kind_names[] = {"sum_long", "sum_double", "strung",        "in_place",
                                         "bcast",    "reduce",     "reduce_strung", "barrier"};

static int rank, size, log_fd, large_percent, comm_count = 1;
static long number;
static uint64_t seed;
static struct Plan plan;
static MPI_Comm comms[3];
static const char* comm_names[3];
static char enough[4096]; /* the file that says so */
static MPI_Datatype sequence_type;
static MPI_Op string_together;
static unsigned char send_buffer[bytes_max], receive_buffer[bytes_max];

static uint64_t mixed(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}
static int below(uint64_t* state, int limit) {
  *state = mixed(*state);
  return (int)(*state % (uint64_t)limit);
}

static int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static uint64_t digest_of(const void* data, size_t bytes) {
  const unsigned char* at = data;
  uint64_t hash = 0xcbf29ce484222325u;
  for (size_t i = 0; i < bytes; ++i) hash = (hash ^ at[i]) * 0x100000001b3u;
  return hash;
}

/* One system call a line: what was written stays, whatever happens to us. */
static void write_down(const char* line) {
  if (write(log_fd, line, strlen(line)) < 0) exit(1);
}
static void note_entry(void) {
  char line[64];
  snprintf(line, sizeof line, "E %ld %lld\n", number, (long long)now_ns());
  write_down(line);
}
static void note_return(int code, uint64_t mask, uint64_t digest) {
  char line[160];
  snprintf(line, sizeof line, "R %ld %lld %s %s %d %d %llu %llx\n", number, (long long)now_ns(),
           plan.name, comm_names[plan.which_comm], plan.root, code, (unsigned long long)mask,
           (unsigned long long)digest);
  write_down(line);
}

static void append(void* in, void* inout, int* count, MPI_Datatype* type) {
  struct Sequence *left = in, *right = inout;
  (void)type;
  for (int i = 0; i < *count; ++i) {
    struct Sequence both = left[i];
    memcpy(both.ranks + both.length, right[i].ranks, right[i].length);
    both.length = (unsigned char)(both.length + right[i].length);
    right[i] = both;
  }
}

static int is_failed(int code) {
  char text[MPI_MAX_ERROR_STRING];
  int length;
  if (code == MPI_SUCCESS) return 0;
  MPI_Error_string(code, text, &length);
  return strstr(text, "PROC_FAILED") != NULL;
}

/* World ranks, as Resprout says; `otherwise` if it is not there. */
static uint64_t contributors(MPI_Comm comm, uint64_t otherwise) {
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

/* The same on all ranks, but for the pause. */
static void make_plan(void) {
  uint64_t random = seed * 1000003u + (uint64_t)number;
  static const int counts[] = {0, 1, 1, 2, 8, 60, 600, 3000};
  static const size_t sizes[kinds] = {8, 8, sizeof(struct Sequence), 8,
                                      1, 8, sizeof(struct Sequence), 1};
  plan.kind = below(&random, kinds);
  plan.name = kind_names[plan.kind];
  plan.which_comm = below(&random, 4) % comm_count; /* the world most often */
  int members;
  MPI_Comm_size(comms[plan.which_comm], &members);
  plan.root = below(&random, size) % members;
  plan.count = counts[below(&random, 8)];
  if (below(&random, 100) < large_percent) plan.count = mebibyte / (int)sizes[plan.kind];
  if ((size_t)plan.count * sizes[plan.kind] > bytes_max) plan.count = 100;
  random += (uint64_t)rank;
  plan.pause_us = below(&random, 16) == 0 ? below(&random, 300) : 0;
}

/* What element i of this operation is multiplied with: never that of the last one. */
static int64_t factor(int i) { return (number % 89 + 1) * 8 + i % 7; }

static void fill(int as_double) {
  int64_t* numbers = (int64_t*)send_buffer;
  double* reals = (double*)send_buffer;
  for (int i = 0; i < plan.count; ++i) {
    int64_t value = ((int64_t)1 << rank) * factor(i);
    if (as_double)
      reals[i] = (double)value;
    else
      numbers[i] = value;
  }
}

/* Who contributed: to every element the same ranks, each once. */
static uint64_t mask_of_sums(int is_double) {
  const int64_t* numbers = (const int64_t*)receive_buffer;
  const double* reals = (const double*)receive_buffer;
  int64_t mask = 0;
  for (int i = 0; i < plan.count; ++i) {
    int64_t sum = is_double ? (int64_t)reals[i] : numbers[i];
    CHECK(sum % factor(i) == 0);
    if (i == 0) mask = sum / factor(i);
    CHECK(sum / factor(i) == mask);
  }
  CHECK(mask >= 0 && mask >> size == 0 && (plan.count == 0 || mask >> rank & 1));
  return (uint64_t)mask;
}

/* In the order of the communicator's ranks, which runs backwards in the halves. */
static int is_in_order(int first, int second) {
  return plan.which_comm == 2 ? first > second : first < second;
}

static uint64_t mask_of_sequences(void) {
  const struct Sequence* all = (const struct Sequence*)receive_buffer;
  uint64_t mask = 0;
  for (int i = 0; i < plan.count; ++i) {
    uint64_t here = 0;
    CHECK(all[i].length <= size);
    for (int k = 0; k < all[i].length; ++k) {
      CHECK(all[i].ranks[k] < size);
      CHECK(k == 0 || is_in_order(all[i].ranks[k - 1], all[i].ranks[k]));
      here |= (uint64_t)1 << all[i].ranks[k];
    }
    if (i == 0) mask = here;
    CHECK(here == mask && here >> rank & 1);
  }
  return mask;
}

static void fill_sequences(void) {
  struct Sequence* all = (struct Sequence*)send_buffer;
  memset(all, 0, (size_t)plan.count * sizeof *all);
  for (int i = 0; i < plan.count; ++i) {
    all[i].length = 1;
    all[i].ranks[0] = (unsigned char)rank;
  }
}

static void check_untouched(size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) CHECK(receive_buffer[i] == 0xa5);
}

/* An allreduce, or a reduce of which only the root has the result. */
static void do_reduction(MPI_Comm comm) {
  int kind = plan.kind, is_reduce = kind == reduce || kind == reduce_strung, self;
  int is_strung = kind == strung || kind == reduce_strung, is_double = kind == sum_double;
  size_t bytes = (size_t)plan.count * (is_strung ? sizeof(struct Sequence) : sizeof(int64_t));
  MPI_Datatype type = is_strung ? sequence_type : is_double ? MPI_DOUBLE : MPI_INT64_T;
  MPI_Op op = is_strung ? string_together : MPI_SUM;
  const void* input = send_buffer;
  MPI_Comm_rank(comm, &self);
  if (is_strung)
    fill_sequences();
  else
    fill(is_double);
  memset(receive_buffer, 0xa5, bytes + 64);
  if (kind == in_place) {
    memcpy(receive_buffer, send_buffer, bytes);
    input = MPI_IN_PLACE;
  }
  note_entry();
  int code = is_reduce ? MPI_Reduce(input, receive_buffer, plan.count, type, op, plan.root, comm)
                       : MPI_Allreduce(input, receive_buffer, plan.count, type, op, comm);
  for (size_t i = bytes; i < bytes + 64; ++i) CHECK(receive_buffer[i] == 0xa5);
  CHECK(code == MPI_SUCCESS);
  if (is_reduce && self != plan.root) {
    check_untouched(bytes);
    uint64_t mask = contributors(comm, 0); /* nobody, if the root is gone */
    CHECK(mask == 0 || mask >> rank & 1 || !resprout_contributors);
    note_return(0, 0, 0);
  } else {
    uint64_t mask = is_strung ? mask_of_sequences() : mask_of_sums(is_double);
    CHECK(plan.count == 0 || contributors(comm, mask) == mask);
    note_return(0, mask, digest_of(receive_buffer, bytes));
  }
}

static void do_bcast(MPI_Comm comm) {
  int self;
  MPI_Comm_rank(comm, &self);
  memset(receive_buffer, 0xa5, (size_t)plan.count + 64);
  uint64_t payload = seed + (uint64_t)number;
  if (self == plan.root)
    for (int i = 0; i < plan.count; ++i)
      receive_buffer[i] = (unsigned char)mixed(payload + (uint64_t)i);
  note_entry();
  int code = MPI_Bcast(receive_buffer, plan.count, MPI_BYTE, plan.root, comm);
  CHECK(code == MPI_SUCCESS || (is_failed(code) && self != plan.root));
  for (int i = 0; i < 64; ++i) CHECK(receive_buffer[plan.count + i] == 0xa5);
  if (code != MPI_SUCCESS) {
    check_untouched((size_t)plan.count);
    CHECK(contributors(comm, 0) == 0);
    note_return(1, 0, 0);
    return;
  }
  for (int i = 0; i < plan.count; ++i)
    CHECK(receive_buffer[i] == (unsigned char)mixed(payload + (uint64_t)i));
  note_return(0, contributors(comm, 0), digest_of(receive_buffer, (size_t)plan.count));
}

static void do_operation(void) {
  make_plan();
  MPI_Comm comm = comms[plan.which_comm];
  if (plan.pause_us > 0) usleep((useconds_t)plan.pause_us);
  if (plan.kind == bcast) {
    do_bcast(comm);
  } else if (plan.kind == barrier) {
    note_entry();
    CHECK(MPI_Barrier(comm) == MPI_SUCCESS);
    note_return(0, contributors(comm, 0), 0);
  } else {
    do_reduction(comm);
  }
}

/* Whether everybody has worked long enough: they all decide alike. */
static int is_over(int64_t until_ns) {
  int mine = until_ns > 0 ? now_ns() >= until_ns : access(enough, F_OK) == 0, all = 0;
  CHECK(MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD) == MPI_SUCCESS);
  return all;
}

static void open_log(const char* folder) {
  char path[4096];
  snprintf(path, sizeof path, "%s/rank-%d", folder, rank);
  log_fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0666);
  if (log_fd < 0) {
    perror(path);
    exit(1);
  }
}

static void make_communicators(void) {
  int is_upper = rank >= size / 2;
  comm_count = 3;
  MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]);
  MPI_Comm_split(MPI_COMM_WORLD, is_upper, size - rank, &comms[2]);
  comm_names[1] = "dup";
  comm_names[2] = is_upper ? "upper" : "lower";
}

int main(int argc, char** argv) {
  if (argc < 5) return 2;
  MPI_Init(&argc, &argv);
  const int64_t milliseconds = strtoll(argv[3], NULL, 10);
  const int64_t until_ns = milliseconds > 0 ? now_ns() + milliseconds * 1000000 : 0;
  snprintf(enough, sizeof enough, "%s/enough", argv[1]);
  seed = (uint64_t)strtoll(argv[2], NULL, 10);
  large_percent = (int)strtol(argv[4], NULL, 10);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  open_log(argv[1]);

  comms[0] = MPI_COMM_WORLD;
  comm_names[0] = "world";
  if (argc == 5) make_communicators();
  MPI_Type_contiguous((int)sizeof(struct Sequence), MPI_BYTE, &sequence_type);
  MPI_Type_commit(&sequence_type);
  MPI_Op_create(append, 0, &string_together);

  while (!is_over(until_ns) || number < operations_min)
    for (int i = 0; i < 20; ++i, ++number) do_operation();
  write_down("D\n");
  MPI_Op_free(&string_together);
  MPI_Type_free(&sequence_type);
  while (--comm_count > 0) MPI_Comm_free(&comms[comm_count]);
  MPI_Finalize();
  return 0;
}
