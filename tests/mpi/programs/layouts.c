/* All collectives of elements that lie in memory out of order, apart, behind the buffer's address
 * or backwards, before and after losses.
 *
 *   layouts RANK... [anew]
 *
 * Each of these ranks, not 1, dies, the first after a third of the calls, the second after two.
 * anew: a little later the communicator is a duplicate that was made after the loss.
 * What everybody should have got is worked out from whom resprout_contributors names, and what the
 * lost should have supplied has to be as it was. An element is a map x -> ax + b, and a reduction
 * puts maps together: that does not commute. 1 if anything is wrong. */
#include <mpi.h>
#include <resprout/resprout.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ranks_max = 16, layouts = 5, victims_max = 2, untouched = 0x5a };
enum { lengths_count = 3, rounds = 2 * lengths_count * layouts, calls_of_round = 15 };
enum Way { from_root, to_root, to_all };
typedef struct {
  uint64_t a, b;
} Map;
typedef struct {
  MPI_Datatype datatype;
  MPI_Aint extent, a_at, b_at;
} Layout;

static Layout layout[layouts];
static const Layout* of_reduction;
static MPI_Comm comm; /* the world in reverse order */
static int rank, size, world_rank, wrong, call, victims, victim[victims_max], root, count;
static int is_in_place, is_made_anew;
static unsigned named;
/* So that there is room on both sides of where it begins. */
static size_t half_bytes;
static unsigned char *memory[2], *out, *in;

static uint64_t mixed(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

static Map given(int from, int to, int i) {
  const uint64_t dice =
      mixed((uint64_t)call << 40 | (uint64_t)from << 32 | (uint64_t)to << 24 | (uint64_t)i);
  return (Map){dice | 1, mixed(dice)};
}

static int is_named(int r) { return (int)(named >> r & 1); }

/* --- buffers -----------------------------------------------------------------------------------*/

static void make_buffers(int elements) {
  half_bytes = (size_t)(elements + 1) * 48;
  for (int k = 0; k < 2; ++k) {
    memory[k] = malloc(2 * half_bytes);
    memset(memory[k], untouched, 2 * half_bytes);
  }
  out = memory[0] + half_bytes;
  in = memory[1] + half_bytes;
}

static void free_buffers(void) {
  free(memory[0]);
  free(memory[1]);
}

static Map at(const void* buffer, const Layout* l, int i) {
  Map map;
  memcpy(&map.a, (const char*)buffer + l->extent * i + l->a_at, sizeof map.a);
  memcpy(&map.b, (const char*)buffer + l->extent * i + l->b_at, sizeof map.b);
  return map;
}

static void put(void* buffer, const Layout* l, int i, Map map) {
  memcpy((char*)buffer + l->extent * i + l->a_at, &map.a, sizeof map.a);
  memcpy((char*)buffer + l->extent * i + l->b_at, &map.b, sizeof map.b);
}

/* It should be what was given, or as it was. */
static void check(const char* what, const Layout* l, int i, int is_there, Map wanted) {
  if (!is_there) memset(&wanted, untouched, sizeof wanted);
  const Map got = at(in, l, i);
  if (got.a == wanted.a && got.b == wanted.b) return;
  if (wrong++ == 0)
    printf("%d: %s %d, layout %d, element %d of %d, named %x\n", rank, what, call,
           (int)(l - layout), i, count, named);
}

/* Wipes what was checked; the rest has to be untouched. */
static void check_rest(const char* what, const Layout* l, int elements) {
  Map wiped;
  memset(&wiped, untouched, sizeof wiped);
  for (int i = 0; i < elements; ++i) put(in, l, i, wiped);
  for (size_t i = 0; i < 2 * half_bytes; ++i)
    if (memory[1][i] != untouched && wrong++ == 0)
      printf("%d: %s %d wrote beside its elements\n", rank, what, call);
}

/* --- whom it is about --------------------------------------------------------------------------*/

static void begin(int elements) {
  for (int i = 0; i < victims; ++i)
    if (victim[i] == world_rank && call == (i + 1) * rounds * calls_of_round / 3)
      kill(getpid(), SIGKILL);
  ++call;
  make_buffers(elements);
}

/* What comes from the root has one contributor or fails; a result contains who has it. */
static void end(const char* what, int code, enum Way way) {
  MPI_Group group, all;
  int members, member;
  named = 0;
  resprout_contributors(comm, &group);
  MPI_Comm_group(comm, &all);
  MPI_Group_size(group, &members);
  for (int i = 0; i < members; ++i) {
    MPI_Group_translate_ranks(group, 1, &i, all, &member);
    named |= 1u << member;
  }
  MPI_Group_free(&all);
  MPI_Group_free(&group);
  const unsigned wanted = code == MPI_SUCCESS ? 1u << root : 0;
  const int has_result = way == to_all || rank == root;
  if (way == from_root ? named == wanted : code == MPI_SUCCESS && (!has_result || is_named(rank)))
    return;
  if (wrong++ == 0) printf("%d: %s %d: %d, named %x\n", rank, what, call, code, named);
}

/* --- reductions --------------------------------------------------------------------------------*/

static Map together(Map first, Map second) {
  return (Map){first.a * second.a, first.b * second.a + second.b};
}

static void put_together(void* first, void* second, int* n, MPI_Datatype* datatype) {
  (void)datatype;
  const Layout* l = of_reduction;
  for (int i = 0; i < *n; ++i) put(second, l, i, together(at(first, l, i), at(second, l, i)));
}

static void check_fold(const char* what, int first, int elements, int ranks) {
  for (int i = 0; i < elements; ++i) {
    Map sum = given(rank, 0, i); /* where there is none: what was there before a call in place */
    int is_there = 0;
    for (int r = 0; r < ranks; ++r) {
      if (!is_named(r)) continue;
      const Map part = given(r, 0, first + i);
      sum = is_there ? together(sum, part) : part;
      is_there = 1;
    }
    check(what, of_reduction, i, is_there || is_in_place, sum);
  }
}

static void* begin_reduction(int elements, int is_in_place_here) {
  begin(elements);
  for (int i = 0; i < elements; ++i)
    put(is_in_place_here ? in : out, of_reduction, i, given(rank, 0, i));
  return is_in_place_here ? MPI_IN_PLACE : out;
}

static void do_reductions(MPI_Op op) {
  const MPI_Datatype datatype = of_reduction->datatype;
  int parts[ranks_max], first = 0, all = 0;
  const void* from = begin_reduction(count, is_in_place);
  end("allreduce", MPI_Allreduce(from, in, count, datatype, op, comm), to_all);
  check_fold("allreduce", 0, count, size);
  check_rest("allreduce", of_reduction, count);
  free_buffers();

  from = begin_reduction(count, is_in_place && rank == root);
  end("reduce", MPI_Reduce(from, in, count, datatype, op, root, comm), to_root);
  if (rank == root) check_fold("reduce", 0, count, size);
  check_rest("reduce", of_reduction, rank == root ? count : 0);
  free_buffers();

  from = begin_reduction(count, is_in_place);
  end("scan", MPI_Scan(from, in, count, datatype, op, comm), to_all);
  check_fold("scan", 0, count, rank + 1);
  check_rest("scan", of_reduction, count);
  free_buffers();

  from = begin_reduction(count, is_in_place);
  end("exscan", MPI_Exscan(from, in, count, datatype, op, comm), to_all);
  check_fold("exscan", 0, count, rank);
  check_rest("exscan", of_reduction, count);
  free_buffers();

  for (int r = 0; r < size; ++r) {
    parts[r] = (count + r) % 3 == 0 ? 0 : count + r;
    if (r < rank) first += parts[r];
    all += parts[r];
  }
  from = begin_reduction(all, is_in_place);
  end("reduce_scatter", MPI_Reduce_scatter(from, in, parts, datatype, op, comm), to_all);
  check_fold("reduce_scatter", first, parts[rank], size);
  check_rest("reduce_scatter", of_reduction, all);
  free_buffers();
}

/* --- blocks ------------------------------------------------------------------------------------*/

static const Layout *sent, *got;
static int counts[ranks_max], displs[ranks_max], elements;

/* Of pieces one behind the other, or of other lengths and with a gap before each. */
static void lay_out(int is_varied) {
  elements = 0;
  for (int r = 0; r < size; ++r) {
    counts[r] = is_varied ? count * (r % 3) / 2 : count;
    displs[r] = elements + is_varied;
    elements = displs[r] + counts[r];
  }
}

/* What this process gives: in its place already, or in a buffer of its own. */
static const void* give_mine(int is_in_place_here) {
  for (int i = 0; i < counts[rank]; ++i)
    if (is_in_place_here)
      put(in, got, displs[rank] + i, given(rank, 0, i));
    else
      put(out, sent, i, given(rank, 0, i));
  return is_in_place_here ? MPI_IN_PLACE : out;
}

static void check_blocks(const char* what) {
  for (int r = 0; r < size; ++r)
    for (int i = 0; i < counts[r]; ++i)
      check(what, got, displs[r] + i, is_named(r), given(r, 0, i));
  check_rest(what, got, elements);
}

static void do_gathers(int is_varied) {
  const MPI_Datatype to = got->datatype, from = sent->datatype;
  const int mine = counts[rank];
  begin(elements);
  const void* data = give_mine(is_in_place && rank == root);
  end("gather",
      is_varied ? MPI_Gatherv(data, mine, from, in, counts, displs, to, root, comm)
                : MPI_Gather(data, mine, from, in, mine, to, root, comm),
      to_root);
  if (rank == root) check_blocks("gather");
  free_buffers();

  begin(elements);
  data = give_mine(is_in_place);
  end("allgather",
      is_varied ? MPI_Allgatherv(data, mine, from, in, counts, displs, to, comm)
                : MPI_Allgather(data, mine, from, in, mine, to, comm),
      to_all);
  check_blocks("allgather");
  free_buffers();
}

static void do_scatter(int is_varied) {
  const MPI_Datatype to = got->datatype, from = sent->datatype;
  const int mine = counts[rank];
  begin(elements);
  void* data = is_in_place && rank == root ? MPI_IN_PLACE : in;
  for (int r = 0; rank == root && r < size; ++r)
    for (int i = 0; i < counts[r]; ++i) put(out, sent, displs[r] + i, given(root, r, i));
  const int code = is_varied ? MPI_Scatterv(out, counts, displs, from, data, mine, to, root, comm)
                             : MPI_Scatter(out, mine, from, data, mine, to, root, comm);
  end("scatter", code, from_root);
  for (int i = 0; i < mine; ++i)
    check("scatter", got, i, named != 0 && data != MPI_IN_PLACE, given(root, rank, i));
  check_rest("scatter", got, mine);
  free_buffers();
}

/* What goes from one to another is as long as what comes back. */
static void do_exchange(int form) {
  int byte_places[2][ranks_max];
  MPI_Datatype to[ranks_max], from[ranks_max];
  elements = 0;
  for (int r = 0; r < size; ++r) {
    counts[r] = form == 0 ? count : count * ((rank + r) % 3) / 2;
    displs[r] = elements + (form != 0);
    elements = displs[r] + counts[r];
    byte_places[0][r] = (int)(displs[r] * sent->extent);
    byte_places[1][r] = (int)(displs[r] * got->extent);
    from[r] = sent->datatype;
    to[r] = got->datatype;
  }
  begin(elements);
  for (int r = 0; r < size; ++r)
    for (int i = 0; i < counts[r]; ++i)
      put(is_in_place ? in : out, is_in_place ? got : sent, displs[r] + i, given(rank, r, i));
  const void* data = is_in_place ? MPI_IN_PLACE : out;
  int code = MPI_SUCCESS;
  if (form == 0) code = MPI_Alltoall(data, count, *from, in, count, *to, comm);
  if (form == 1) code = MPI_Alltoallv(data, counts, displs, *from, in, counts, displs, *to, comm);
  if (form == 2)
    code = MPI_Alltoallw(data, counts, byte_places[0], from, in, counts, byte_places[1], to, comm);
  end("alltoall", code, to_all);
  for (int r = 0; r < size; ++r)
    for (int i = 0; i < counts[r]; ++i)
      check("alltoall", got, displs[r] + i, is_named(r) || is_in_place,
            is_named(r) ? given(r, rank, i) : given(rank, r, i));
  check_rest("alltoall", got, elements);
  free_buffers();
}

static void do_broadcast(void) {
  const Layout* mine = rank == root ? sent : got;
  begin(count);
  for (int i = 0; rank == root && i < count; ++i) put(in, mine, i, given(root, 0, i));
  end("bcast", MPI_Bcast(in, count, mine->datatype, root, comm), from_root);
  for (int i = 0; i < count; ++i) check("bcast", mine, i, named != 0, given(root, 0, i));
  check_rest("bcast", mine, count);
  free_buffers();
}

/* --- all of it ---------------------------------------------------------------------------------*/

static Layout made(MPI_Aint a_at, MPI_Aint b_at, MPI_Aint lb, MPI_Aint extent) {
  const int lengths[] = {1, 1};
  const MPI_Aint places[] = {a_at, b_at};
  const MPI_Datatype parts[] = {MPI_UINT64_T, MPI_UINT64_T};
  MPI_Datatype narrow;
  Layout l = {MPI_DATATYPE_NULL, extent, a_at, b_at};
  MPI_Type_create_struct(2, lengths, places, parts, &narrow);
  MPI_Type_create_resized(narrow, lb, extent, &l.datatype);
  MPI_Type_commit(&l.datatype);
  MPI_Type_free(&narrow);
  return l;
}

static void make_anew(void) {
  MPI_Comm duplicate;
  if (MPI_Comm_dup(comm, &duplicate) != MPI_SUCCESS && wrong++ == 0) printf("no duplicate\n");
  MPI_Comm_free(&comm);
  comm = duplicate;
}

static void do_all(MPI_Op op) {
  static const int lengths[lengths_count] = {0, 1, 37};
  for (int round = 0; round < rounds; ++round) {
    if (is_made_anew && round % (rounds / 3) == 1 && round > 1) make_anew();
    is_in_place = round % 2;
    count = lengths[round / 2 % lengths_count];
    const int l = round / (2 * lengths_count);
    root = (round + l) % size;
    of_reduction = &layout[l];
    do_reductions(op);
    sent = &layout[l];
    got = &layout[(l + 1 + round % 3) % layouts];
    do_broadcast();
    for (int is_varied = 0; is_varied < 2; ++is_varied) {
      lay_out(is_varied);
      do_gathers(is_varied);
      do_scatter(is_varied);
    }
    for (int form = 0; form < 3; ++form) do_exchange(form);
  }
}

int main(int argc, char** argv) {
  MPI_Op op;
  MPI_Init(&argc, &argv);
  is_made_anew = strcmp(argv[argc - 1], "anew") == 0;
  argc -= is_made_anew;
  for (; victims < victims_max && victims + 1 < argc; ++victims)
    victim[victims] = (int)strtol(argv[victims + 1], NULL, 10);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_split(MPI_COMM_WORLD, 0, -world_rank, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  layout[0] = made(0, 8, 0, 16);
  layout[1] = made(8, 0, 0, 16);
  layout[2] = made(8, 0, 0, 24);
  layout[3] = made(16, 32, 8, 40);
  layout[4] = made(0, 8, 0, -16);
  MPI_Op_create(put_together, 0, &op);
  do_all(op);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Op_free(&op);
  for (int l = 0; l < layouts; ++l) MPI_Type_free(&layout[l].datatype);
  if (world_rank == 1) printf("%d calls\n", call);
  MPI_Finalize();
  return wrong != 0;
}
