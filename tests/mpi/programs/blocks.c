/* A long, random mix of gathers, scatters, exchanges, scans and their kin that checks each result
 * and writes down what it saw.
 *
 *   blocks FOLDER SEED MILLISECONDS LARGE_PERCENT all|FUNCTION [world]
 *
 * As mixed.c: the communicators, how long it runs, and what it writes down (mix.h). Of the receive
 * buffers every byte is checked: each block is what its rank has given, or as it was before.
 */
#include "mix.h"

enum { count_max = 3 * mebibyte / 8, operations_min = 120, gap = 3 };
enum Function {
  gather,
  gatherv,
  scatter,
  scatterv,
  allgather,
  allgatherv,
  alltoall,
  alltoallv,
  alltoallw,
  scan,
  exscan,
  reduce_scatter,
  reduce_scatter_block,
  functions
};
static const char* const names[functions] = {"gather",
                                             "gatherv",
                                             "scatter",
                                             "scatterv",
                                             "allgather",
                                             "allgatherv",
                                             "alltoall",
                                             "alltoallv",
                                             "alltoallw",
                                             "scan",
                                             "exscan",
                                             "reduce_scatter",
                                             "reduce_scatter_block"};

/* Where the blocks are in a buffer, in elements; and how far their elements are from each other. */
struct Places {
  int lengths[ranks_max], displs[ranks_max], steps[ranks_max], end;
};

static int large_percent, only = -1, members, self; /* of the communicator */
static enum Function function;
static int count, is_varied, is_in_place;
static int64_t send[count_max], receive[count_max], before[count_max], expected[count_max];
static MPI_Datatype spaced; /* a number, and room for another */

static int world_rank_of(int r) {
  if (current.which_comm != 2) return r;
  return rank >= size / 2 ? size - 1 - r : size / 2 - 1 - r;
}

/* Each function once in `functions` operations, in an order that changes. */
static enum Function chosen_function(void) {
  uint64_t random = mixed(seed + (uint64_t)(number / functions));
  int step = 1 + below(&random, functions - 1); /* the number of functions is a prime */
  return (enum Function)((below(&random, functions) + step * (number % functions)) % functions);
}

/* The same on all ranks, but for the pause. */
static void make_plan(void) {
  static const int counts[] = {1, 1, 2, 8, 60, 600};
  uint64_t random = seed * 1000003u + (uint64_t)number;
  function = only >= 0 ? (enum Function)only : chosen_function();
  current.name = names[function];
  current.which_comm = below(&random, 4) % comm_count; /* the world most often */
  MPI_Comm_size(comms[current.which_comm], &members);
  MPI_Comm_rank(comms[current.which_comm], &self);
  current.root = below(&random, members);
  count = counts[below(&random, 6)];
  int is_large = below(&random, 100) < large_percent;
  if (is_large) count = mebibyte / 8 / (function == scan || function == exscan ? 1 : members);
  is_varied = function == gatherv || function == scatterv || function == allgatherv ||
              function == alltoallv || function == alltoallw || function == reduce_scatter;
  is_in_place = below(&random, 3) == 0 && function != alltoallv && function != alltoallw;
  random += (uint64_t)rank;
  int pause_us = below(&random, 16) == 0 ? below(&random, 300) : 0;
  if (pause_us > 0) usleep((useconds_t)pause_us);
}

/* What rank `from` of the communicator gives to `to`: so many numbers, and these. */
static uint64_t key(int from, int to) {
  return seed * 8191u + (uint64_t)number * 4096u + (uint64_t)(from * 64 + to);
}
static int length(int from, int to) {
  return is_varied ? 1 + (int)(mixed(key(from, to)) % (uint64_t)count) : count;
}
static int64_t value(int from, int to, int i) {
  return (int64_t)mixed(mixed(key(from, to)) + (uint64_t)i);
}

/* Even blocks stand one behind the other, others apart. */
static void lay_out(struct Places* places, const int* lengths, int blocks) {
  int at = 0;
  for (int r = 0; r < blocks; ++r) {
    places->lengths[r] = lengths[r];
    places->steps[r] = function == alltoallw && r % 2 ? 2 : 1;
    places->displs[r] = at;
    at += lengths[r] * places->steps[r] + (is_varied ? gap : 0);
  }
  places->end = at + gap;
  CHECK(places->end <= count_max);
}

static void put(int64_t* buffer, const struct Places* places, int r, int from, int to) {
  for (int i = 0; i < places->lengths[r]; ++i)
    buffer[places->displs[r] + i * places->steps[r]] = value(from, to, i);
}

static void clear(const struct Places* places) {
  memset(receive, 0xa5, (size_t)places->end * sizeof *receive);
}
static void remember(const struct Places* places) {
  memcpy(before, receive, (size_t)places->end * sizeof *receive);
}

/* Whose blocks have come, as world ranks. `to`: for whom they were. */
static uint64_t mask_of_blocks(const struct Places* places, int to) {
  uint64_t mask = 0;
  memcpy(expected, before, (size_t)places->end * sizeof *expected);
  for (int r = 0; r < members; ++r) {
    int first = places->displs[r];
    if (r != self && receive[first] == before[first]) continue;
    put(expected, places, r, r, to);
    mask |= (uint64_t)1 << world_rank_of(r);
  }
  CHECK(memcmp(receive, expected, (size_t)places->end * sizeof *receive) == 0);
  return mask;
}

/* --- what each function does ------------------------------------------------------------------ */

static void do_gather(MPI_Comm comm) {
  struct Places places;
  int lengths[ranks_max], is_to_all = function == allgather || function == allgatherv, code;
  int receives = is_to_all || self == current.root, is_mine_there = is_in_place && receives;
  for (int r = 0; r < members; ++r) lengths[r] = length(r, 0);
  lay_out(&places, lengths, members);
  for (int i = 0; i < lengths[self]; ++i) send[i] = value(self, 0, i);
  clear(&places);
  if (is_mine_there) put(receive, &places, self, self, 0);
  remember(&places);
  const void* from = is_mine_there ? MPI_IN_PLACE : send;
  const int *rc = places.lengths, *rd = places.displs, sc = lengths[self];
  note_entry();
  if (function == gather)
    code = MPI_Gather(from, sc, MPI_INT64_T, receive, count, MPI_INT64_T, current.root, comm);
  else if (function == gatherv)
    code = MPI_Gatherv(from, sc, MPI_INT64_T, receive, rc, rd, MPI_INT64_T, current.root, comm);
  else if (function == allgather)
    code = MPI_Allgather(from, sc, MPI_INT64_T, receive, count, MPI_INT64_T, comm);
  else
    code = MPI_Allgatherv(from, sc, MPI_INT64_T, receive, rc, rd, MPI_INT64_T, comm);
  CHECK(code == MPI_SUCCESS);
  size_t bytes = (size_t)places.end * sizeof *receive;
  if (receives)
    note_return(0, mask_of_blocks(&places, 0), digest_of(receive, bytes));
  else {
    CHECK(memcmp(receive, before, bytes) == 0);
    note_return(0, 0, 0);
  }
}

static void do_scatter(MPI_Comm comm) {
  struct Places all, mine;
  int lengths[ranks_max], is_root = self == current.root, code;
  int is_mine_there = is_in_place && is_root;
  for (int r = 0; r < members; ++r) lengths[r] = length(current.root, r);
  lay_out(&all, lengths, members);
  for (int r = 0; is_root && r < members; ++r) put(send, &all, r, current.root, r);
  lay_out(&mine, &lengths[self], 1);
  clear(&mine);
  remember(&mine);
  void* to = is_mine_there ? MPI_IN_PLACE : receive;
  note_entry();
  if (function == scatter)
    code = MPI_Scatter(send, count, MPI_INT64_T, to, count, MPI_INT64_T, current.root, comm);
  else
    code = MPI_Scatterv(send, all.lengths, all.displs, MPI_INT64_T, to, lengths[self], MPI_INT64_T,
                        current.root, comm);
  CHECK(code == MPI_SUCCESS || (is_failed(code) && !is_root));
  memcpy(expected, before, (size_t)mine.end * sizeof *expected);
  if (code == MPI_SUCCESS && !is_mine_there) put(expected, &mine, 0, current.root, self);
  CHECK(memcmp(receive, expected, (size_t)mine.end * sizeof *receive) == 0);
  note_return(code != MPI_SUCCESS, 0, 0);
}

static void do_alltoall(MPI_Comm comm) {
  struct Places out, in;
  int lengths[ranks_max], in_bytes[ranks_max], out_bytes[ranks_max], code;
  MPI_Datatype types[ranks_max];
  for (int r = 0; r < members; ++r) lengths[r] = length(self, r);
  lay_out(&out, lengths, members);
  for (int r = 0; r < members; ++r) lengths[r] = length(r, self);
  lay_out(&in, lengths, members);
  clear(&in);
  for (int r = 0; r < members; ++r) {
    put(send, &out, r, self, r);
    if (is_in_place) put(receive, &in, r, self, r);
    in_bytes[r] = 8 * in.displs[r];
    out_bytes[r] = 8 * out.displs[r];
    types[r] = in.steps[r] == 2 ? spaced : MPI_INT64_T;
  }
  remember(&in);
  const void* from = is_in_place ? MPI_IN_PLACE : send;
  note_entry();
  if (function == alltoall)
    code = MPI_Alltoall(from, count, MPI_INT64_T, receive, count, MPI_INT64_T, comm);
  else if (function == alltoallv)
    code = MPI_Alltoallv(from, out.lengths, out.displs, MPI_INT64_T, receive, in.lengths, in.displs,
                         MPI_INT64_T, comm);
  else
    code = MPI_Alltoallw(from, out.lengths, out_bytes, types, receive, in.lengths, in_bytes, types,
                         comm);
  CHECK(code == MPI_SUCCESS);
  note_return(0, mask_of_blocks(&in, self), 0);
}

/* Numbers are added, sequences strung together, which does not commute. */
static void do_scan(MPI_Comm comm) {
  int is_strung = count <= 600 && mixed(key(0, 0)) % 2;
  size_t bytes = (size_t)count * (is_strung ? sizeof(struct Sequence) : sizeof(int64_t));
  MPI_Datatype type = is_strung ? sequence_type : MPI_INT64_T;
  MPI_Op op = is_strung ? string_together : MPI_SUM;
  if (is_strung)
    fill_sequences((struct Sequence*)send, count);
  else
    fill_numbers(send, count);
  memset(receive, 0xa5, bytes + 64);
  if (is_in_place) memcpy(receive, send, bytes);
  memcpy(before, receive, bytes + 64);
  const void* from = is_in_place ? MPI_IN_PLACE : send;
  note_entry();
  int code = function == scan ? MPI_Scan(from, receive, count, type, op, comm)
                              : MPI_Exscan(from, receive, count, type, op, comm);
  CHECK(code == MPI_SUCCESS);
  CHECK(memcmp((char*)receive + bytes, (char*)before + bytes, 64) == 0);
  if (function == exscan && memcmp(receive, before, bytes) == 0)
    note_return(0, 0, 0); /* nobody is before us */
  else if (is_strung)
    note_return(0, mask_of_sequences((struct Sequence*)receive, count), 0);
  else
    note_return(0, mask_of_sums(receive, count, 0), 0);
}

static void do_reduce_scatter(MPI_Comm comm) {
  int lengths[ranks_max], all = 0, first = 0;
  for (int r = 0; r < members; ++r) {
    lengths[r] = length(0, r);
    if (r < self) first += lengths[r];
    all += lengths[r];
  }
  size_t bytes = (size_t)all * sizeof *receive, mine = (size_t)lengths[self] * sizeof *receive;
  fill_numbers(send, all);
  memset(receive, 0xa5, bytes + 64);
  if (is_in_place) memcpy(receive, send, bytes);
  memcpy(before, receive, bytes + 64);
  const void* from = is_in_place ? MPI_IN_PLACE : send;
  note_entry();
  int code = function == reduce_scatter
                 ? MPI_Reduce_scatter(from, receive, lengths, MPI_INT64_T, MPI_SUM, comm)
                 : MPI_Reduce_scatter_block(from, receive, count, MPI_INT64_T, MPI_SUM, comm);
  CHECK(code == MPI_SUCCESS);
  CHECK(memcmp((char*)receive + mine, (char*)before + mine, bytes + 64 - mine) == 0);
  note_return(0, mask_of_sums(receive, lengths[self], first), 0);
}

static void do_operation(void) {
  make_plan();
  MPI_Comm comm = comms[current.which_comm];
  if (function == scatter || function == scatterv)
    do_scatter(comm);
  else if (function <= allgatherv)
    do_gather(comm);
  else if (function <= alltoallw)
    do_alltoall(comm);
  else if (function <= exscan)
    do_scan(comm);
  else
    do_reduce_scatter(comm);
}

int main(int argc, char** argv) {
  if (argc < 6) return 2;
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN); /* codes go into the log */
  const int64_t milliseconds = strtoll(argv[3], NULL, 10);
  const int64_t until_ns = milliseconds > 0 ? now_ns() + milliseconds * 1000000 : 0;
  large_percent = (int)strtol(argv[4], NULL, 10);
  for (int f = 0; f < functions; ++f)
    if (strcmp(argv[5], names[f]) == 0) only = f;
  if (only < 0 && strcmp(argv[5], "all") != 0) return 2;
  begin(argv[1], argv[2], argc > 6);
  MPI_Type_create_resized(MPI_INT64_T, 0, 16, &spaced);
  MPI_Type_commit(&spaced);
  while (!is_over(until_ns) || number < operations_min)
    for (int i = 0; i < 20; ++i, ++number) do_operation();
  MPI_Type_free(&spaced);
  end();
  MPI_Finalize();
  return 0;
}
