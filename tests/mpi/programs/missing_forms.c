/* Missing values in reductions of all forms and lengths, of a datatype with gaps by an operator
 * that does not commute, on a communicator whose ranks stand the other way round.
 *
 *   missing_forms nothing | last | callback
 *
 * Of six ranks 4 and 0 of that communicator die. An element is a map x -> ax + b modulo a prime,
 * and a reduction puts maps together; each result is worked out here, too, and has to be the same,
 * with what was in its gaps. `callback`: it writes the gaps, too, and nothing stands in for rank 4.
 * 1 if anything is wrong. */
#include <mpi.h>
#include <resprout/resprout.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ranks = 6, rounds = 30, prime = 10007, untouched = 42 };

typedef struct {
  int gap_before, a, gap_between, b, gap_behind;
} Map;

static const int counts[] = {1, 0, 3, 1000, 30011};
enum { kinds = sizeof counts / sizeof *counts };
/* The round in which a rank gave to that many the last time, but to persistent requests, which
 * remember for themselves and live for one round. */
static int last_of[ranks][kinds];
static const char* mode;

static int form_of(int round) { return round / 2 % 6; }
static int is_persistent(int round) { return form_of(round) == 5; }

static void put_behind(const Map* first, Map* second) {
  const long a = second->a, b = second->b;
  second->a = (int)(first->a * a % prime);
  second->b = (int)((first->b * a + b) % prime);
}

static void put_together(void* in, void* inout, int* count, MPI_Datatype* datatype) {
  (void)datatype;
  for (int i = 0; i < *count; ++i) put_behind((Map*)in + i, (Map*)inout + i);
}

static Map given(int rank, int round, int i) {
  const int a = 2 + (31 * rank + 7 * round + 3 * i) % (prime - 2);
  return (Map){untouched, a, untouched, (17 * rank + 5 * round + i) % prime, untouched};
}

static int stand_in(MPI_Comm comm, int rank, void* contribution, int count, MPI_Datatype datatype,
                    void* extra) {
  int size, elements;
  MPI_Comm_size(comm, &size);
  MPI_Type_size(datatype, &elements);
  if (rank == 4 || size != ranks || elements != 2 * (int)sizeof(int) || extra != NULL) return 0;
  for (int i = 0; i < count; ++i) ((Map*)contribution)[i] = given(rank, rounds, i);
  return 1;
}

static MPI_Datatype make_datatype(void) {
  const int lengths[] = {1, 1};
  const MPI_Aint places[] = {offsetof(Map, a), offsetof(Map, b)};
  const MPI_Datatype parts[] = {MPI_INT, MPI_INT};
  MPI_Datatype narrow, datatype;
  MPI_Type_create_struct(2, lengths, places, parts, &narrow);
  MPI_Type_create_resized(narrow, 0, sizeof(Map), &datatype);
  MPI_Type_commit(&datatype);
  MPI_Type_free(&narrow);
  return datatype;
}

/* 0: nothing of that rank is in it. */
static int part_of(int rank, int round, int i, int is_lost, Map* part) {
  int from = round;
  if (is_lost && strcmp(mode, "callback") == 0) from = rank == 4 ? -1 : rounds;
  if (is_lost && strcmp(mode, "last") == 0)
    from = is_persistent(round) ? -1 : last_of[rank][round % kinds];
  if (is_lost && strcmp(mode, "nothing") == 0) from = -1;
  if (from >= 0) *part = given(rank, from, i);
  return from >= 0;
}

static int is_right(const Map* got, int round, int i, unsigned lost) {
  Map sum = {0}, part;
  int parts = 0;
  for (int rank = 0; rank < ranks; ++rank) {
    if (!part_of(rank, round, i, lost >> rank & 1, &part)) continue;
    if (parts++ > 0) put_behind(&sum, &part);
    sum = part;
  }
  return got->a == sum.a && got->b == sum.b && got->gap_before == untouched &&
         got->gap_between == untouched && got->gap_behind == untouched;
}

/* True: this rank has a result. */
static int reduce(Map* from, Map* to, int count, MPI_Datatype datatype, MPI_Op op, int round,
                  MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  const int form = form_of(round), root = (round / kinds * 2 + 1) % ranks;
  int rank;
  MPI_Comm_rank(comm, &rank);
  const int is_root = rank == root;
  const void* in = from;
  if ((form == 1 || (form == 3 && is_root)) && count > 0) {
    memcpy(to, from, sizeof *to * (size_t)count);
    in = MPI_IN_PLACE;
  }
  if (form <= 1) MPI_Allreduce(in, to, count, datatype, op, comm);
  if (form == 2) MPI_Iallreduce(in, to, count, datatype, op, comm, &request);
  if (form == 3) MPI_Reduce(in, to, count, datatype, op, root, comm);
  if (form == 4) MPI_Ireduce(in, to, count, datatype, op, root, comm, &request);
  if (form == 5) {
    MPI_Reduce_init(in, to, count, datatype, op, root, comm, MPI_INFO_NULL, &request);
    MPI_Start(&request);
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (form == 5) MPI_Request_free(&request);
  return form <= 2 || is_root;
}

static int run(MPI_Comm comm) {
  MPI_Datatype datatype = make_datatype();
  MPI_Op op;
  int rank, wrong = 0;
  unsigned lost = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Op_create(put_together, 0, &op);
  memset(last_of, -1, sizeof last_of);
  for (int round = 0; round < rounds; ++round) {
    const int count = counts[round % kinds];
    const int victim = round == 10 ? 4 : round == 20 ? 0 : -1;
    if (rank == victim) kill(getpid(), SIGKILL);
    if (victim >= 0) lost |= 1u << victim;
    Map* from = calloc((size_t)count + 1, sizeof *from);
    Map* to = calloc((size_t)count + 1, sizeof *to);
    for (int i = 0; i < count; ++i) {
      from[i] = given(rank, round, i);
      to[i] = (Map){untouched, -1, untouched, -1, untouched};
    }
    const int has_result = reduce(from, to, count, datatype, op, round, comm);
    for (int i = 0; has_result && i < count; ++i)
      if (!is_right(&to[i], round, i, lost)) wrong = 1;
    for (int other = 0; other < ranks; ++other)
      if (!(lost >> other & 1) && !is_persistent(round)) last_of[other][round % kinds] = round;
    free(from);
    free(to);
  }
  MPI_Op_free(&op);
  MPI_Type_free(&datatype);
  return wrong;
}

int main(int argc, char** argv) {
  int rank;
  MPI_Comm reversed;
  if (argc < 2) return 2;
  mode = argv[1];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_split(MPI_COMM_WORLD, 0, ranks - rank, &reversed);
  if (strcmp(mode, "callback") == 0) resprout_on_missing(reversed, stand_in, NULL);
  const int wrong = run(reversed);
  MPI_Finalize();
  return wrong;
}
