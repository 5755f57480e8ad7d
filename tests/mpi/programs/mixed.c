/* A long, random mix of collectives that checks each result and writes down what it saw.
 *
 *   mixed FOLDER SEED MILLISECONDS LARGE_PERCENT [world]
 *
 * On the world, a duplicate of it and the two halves of it: allreduce of integers, doubles, in
 * place and with an operator that does not commute, reduce, bcast, barrier; of no, few and many
 * elements, LARGE_PERCENT of them of 1 MiB. A last argument `world` leaves out the other
 * communicators. It runs until every rank has worked for so long (0: until there is a file
 * FOLDER/enough), and 200 operations. mix.h says what it writes down. With ERRORS_ARE_FATAL in the
 * environment it keeps MPI's default error handler.
 *
 * Each rank contributes 2^rank times a known factor, so that a sum tells who contributed.
 */
#include "mix.h"

enum { bytes_max = mebibyte + 4096, operations_min = 200 };

struct Plan {
  int kind, count, pause_us;
};
enum { sum_long, sum_double, strung, in_place, bcast, reduce, reduce_strung, barrier, kinds };
static const char* const kind_names[] = {"sum_long", "sum_double", "strung",        "in_place",
                                         "bcast",    "reduce",     "reduce_strung", "barrier"};

enum { sliced_min = 256 << 10 }; /* from here on a broadcast goes in parts */
static int large_percent;
static struct Plan plan;
static unsigned char send_buffer[bytes_max], receive_buffer[bytes_max];

/* The same on all ranks, but for the pause. */
static void make_plan(void) {
  uint64_t random = seed * 1000003u + (uint64_t)number;
  static const int counts[] = {0, 1, 1, 2, 8, 60, 600, 3000};
  static const size_t sizes[kinds] = {8, 8, sizeof(struct Sequence), 8,
                                      1, 8, sizeof(struct Sequence), 1};
  plan.kind = below(&random, kinds);
  current.name = kind_names[plan.kind];
  current.which_comm = below(&random, 4) % comm_count; /* the world most often */
  int members;
  MPI_Comm_size(comms[current.which_comm], &members);
  current.root = below(&random, size) % members;
  plan.count = counts[below(&random, 8)];
  if (below(&random, 100) < large_percent) plan.count = mebibyte / (int)sizes[plan.kind];
  if ((size_t)plan.count * sizes[plan.kind] > bytes_max) plan.count = 100;
  random += (uint64_t)rank;
  plan.pause_us = below(&random, 16) == 0 ? below(&random, 300) : 0;
}

static void fill_doubles(double* reals, int count) {
  for (int i = 0; i < count; ++i) reals[i] = (double)(((int64_t)1 << rank) * factor(i));
}

/* Who contributed, ourselves included. */
static uint64_t mask_of_result(int is_strung, int is_double) {
  static int64_t numbers[bytes_max / sizeof(int64_t)];
  uint64_t mask;
  if (is_strung) {
    mask = mask_of_sequences((const struct Sequence*)receive_buffer, plan.count);
  } else {
    memcpy(numbers, receive_buffer, (size_t)plan.count * sizeof *numbers);
    if (is_double)
      for (int i = 0; i < plan.count; ++i) numbers[i] = (int64_t)((const double*)receive_buffer)[i];
    mask = mask_of_sums(numbers, plan.count, 0);
  }
  CHECK(plan.count == 0 || mask >> rank & 1);
  return mask;
}

static void check_untouched(size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) CHECK(receive_buffer[i] == 0xa5);
}

static const char* collectives; /* as --collectives */

/* The library's own broadcast, or a large one, may have brought a part of it, nothing else. */
static void check_failed_bcast(uint64_t payload) {
  if (collectives != NULL && plan.count < sliced_min &&
      (strcmp(collectives, "resprout") == 0 || strcmp(collectives, "trees") == 0))
    check_untouched((size_t)plan.count);
  for (int i = 0; i < plan.count; ++i)
    CHECK(receive_buffer[i] == 0xa5 ||
          receive_buffer[i] == (unsigned char)mixed(payload + (uint64_t)i));
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
    fill_sequences((struct Sequence*)send_buffer, plan.count);
  else if (is_double)
    fill_doubles((double*)send_buffer, plan.count);
  else
    fill_numbers((int64_t*)send_buffer, plan.count);
  memset(receive_buffer, 0xa5, bytes + 64);
  if (kind == in_place) {
    memcpy(receive_buffer, send_buffer, bytes);
    input = MPI_IN_PLACE;
  }
  note_entry();
  int code = is_reduce ? MPI_Reduce(input, receive_buffer, plan.count, type, op, current.root, comm)
                       : MPI_Allreduce(input, receive_buffer, plan.count, type, op, comm);
  for (size_t i = bytes; i < bytes + 64; ++i) CHECK(receive_buffer[i] == 0xa5);
  CHECK(code == MPI_SUCCESS);
  if (is_reduce && self != current.root) {
    check_untouched(bytes);
    uint64_t mask = contributors(comm, 0); /* nobody, if the root is gone */
    CHECK(mask == 0 || mask >> rank & 1 || !resprout_contributors);
    note_return(0, 0, 0);
  } else {
    uint64_t mask = mask_of_result(is_strung, is_double);
    CHECK(plan.count == 0 || contributors(comm, mask) == mask);
    note_return(0, mask, digest_of(receive_buffer, bytes));
  }
}

static void do_bcast(MPI_Comm comm) {
  int self;
  MPI_Comm_rank(comm, &self);
  memset(receive_buffer, 0xa5, (size_t)plan.count + 64);
  uint64_t payload = seed + (uint64_t)number;
  if (self == current.root)
    for (int i = 0; i < plan.count; ++i)
      receive_buffer[i] = (unsigned char)mixed(payload + (uint64_t)i);
  note_entry();
  int code = MPI_Bcast(receive_buffer, plan.count, MPI_BYTE, current.root, comm);
  CHECK(code == MPI_SUCCESS || (is_failed(code) && self != current.root));
  for (int i = 0; i < 64; ++i) CHECK(receive_buffer[plan.count + i] == 0xa5);
  if (code != MPI_SUCCESS) {
    check_failed_bcast(payload);
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
  MPI_Comm comm = comms[current.which_comm];
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

int main(int argc, char** argv) {
  if (argc < 5) return 2;
  collectives = getenv("RESPROUT_COLLECTIVES");
  MPI_Init(&argc, &argv);
  if (getenv("ERRORS_ARE_FATAL") == NULL) /* else codes go into the log */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const int64_t milliseconds = strtoll(argv[3], NULL, 10);
  const int64_t until_ns = milliseconds > 0 ? now_ns() + milliseconds * 1000000 : 0;
  large_percent = (int)strtol(argv[4], NULL, 10);
  begin(argv[1], argv[2], argc > 5);
  while (!is_over(until_ns) || number < operations_min)
    for (int i = 0; i < 20; ++i, ++number) do_operation();
  end();
  MPI_Finalize();
  return 0;
}
