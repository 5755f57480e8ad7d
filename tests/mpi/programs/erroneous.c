/* A program that may be wrong: its ranks call different collectives, or the same ones with counts,
 * types, roots or operators that differ, as its script says.
 *
 * erroneous HANDLER STEP...: HANDLER is `fatal` or `return`; with `-made` behind it, the ranks call
 * on a communicator that they have made. A step says what each rank calls, with `|` in between; the
 * last one is for all ranks behind, too: CALL,GIVES,TAKES,TYPE,OP,ROOT,FORM. GIVES and TAKES are
 * the counts for sending and receiving (a reduction has the first alone). FORM is 1 for the
 * non-blocking call, and 2 for the persistent one. Buffers have exactly the elements that the call
 * says.
 *
 * Each rank says which call gave it which class of error, and that it is through. "WRONG":
 * something was written that is no element of a receive buffer.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __SANITIZE_ADDRESS__
enum { around = 0 }; /* the sanitizer looks */
#else
enum { around = 512 };
#endif
enum { blocking, nonblocking, persistent };
enum { mark = 0x5a, fill = 0x33, ranks_max = 64 };

typedef struct {
  char call[32];
  int gives, takes, type, op, root, form;
} Step;

typedef struct {
  char *memory, *data;
  size_t bytes;
} Room;

static int rank, size;
static MPI_Datatype types[5];
static MPI_Op ops[5];
static MPI_Comm comm = MPI_COMM_WORLD;

static Room room_for(int elements, MPI_Datatype type) {
  MPI_Aint lb, extent;
  MPI_Type_get_extent(type, &lb, &extent);
  Room room = {NULL, NULL, (size_t)elements * (size_t)extent};
  room.memory = malloc(room.bytes + 2 * around);
  room.data = room.memory + around;
  memset(room.memory, mark, room.bytes + 2 * around);
  memset(room.data, fill, room.bytes);
  return room;
}

static void fail(const char* what, const char* call) {
  fprintf(stderr, "WRONG: rank %d: %s in %s\n", rank, what, call);
  exit(128); /* which is no class of MPI */
}

static void give_back(Room room, const Step* step) {
  for (size_t i = 0; i < around; ++i)
    if (room.memory[i] != mark || room.data[room.bytes + i] != mark)
      fail("written beyond a buffer", step->call);
  for (size_t i = 0; step->type == 4 && i < room.bytes; ++i)
    if (i % 12 >= 4 && room.data[i] != fill) fail("written between elements", step->call);
  free(room.memory);
}

static void first_of_two(void* in, void* inout, int* count, MPI_Datatype* type) {
  MPI_Aint lb, extent;
  MPI_Type_get_extent(*type, &lb, &extent);
  for (MPI_Aint i = 0; i < *count; ++i)
    memcpy((char*)inout + i * extent, (char*)in + i * extent, extent == 12 ? 4 : (size_t)extent);
}

/* The same for all ranks, one behind the other. They stay until what was begun is over. */
typedef struct {
  int counts[ranks_max], displs[ranks_max], bytes[ranks_max];
  MPI_Datatype types[ranks_max];
} Parts;

static void divide(Parts* parts, int count, MPI_Datatype type) {
  MPI_Aint lb, extent;
  MPI_Type_get_extent(type, &lb, &extent);
  for (int i = 0; i < size; ++i) {
    parts->counts[i] = count;
    parts->displs[i] = i * count;
    parts->bytes[i] = (int)(i * count * extent);
    parts->types[i] = type;
  }
}

#define CALL(Name, iname, ...)                                                                    \
  if (strcmp(s->call, #Name) == 0)                                                                \
    return s->form == nonblocking  ? MPI_I##iname(__VA_ARGS__, comm, request)                     \
           : s->form == persistent ? MPI_##Name##_init(__VA_ARGS__, comm, MPI_INFO_NULL, request) \
                                   : MPI_##Name(__VA_ARGS__, comm);

static int reduction(const Step* s, MPI_Datatype type, void* in, void* out, MPI_Request* request) {
  const int n = s->gives;
  const MPI_Op op = ops[s->op];
  static Parts parts;
  divide(&parts, n, type);
  CALL(Reduce, reduce, in, out, n, type, op, s->root)
  CALL(Allreduce, allreduce, in, out, n, type, op)
  CALL(Scan, scan, in, out, n, type, op)
  CALL(Exscan, exscan, in, out, n, type, op)
  CALL(Reduce_scatter, reduce_scatter, in, out, parts.counts, type, op)
  CALL(Reduce_scatter_block, reduce_scatter_block, in, out, n, type, op)
  return -1;
}

static int exchange(const Step* s, MPI_Datatype type, void* in, void* out, MPI_Request* request) {
  static Parts given, got;
  divide(&given, s->gives, type);
  divide(&got, s->takes, type);
  const int n = s->gives, room = s->takes, root = s->root;
  CALL(Gather, gather, in, n, type, out, room, type, root)
  CALL(Gatherv, gatherv, in, n, type, out, got.counts, got.displs, type, root)
  CALL(Allgather, allgather, in, n, type, out, room, type)
  CALL(Allgatherv, allgatherv, in, n, type, out, got.counts, got.displs, type)
  CALL(Scatter, scatter, in, n, type, out, room, type, root)
  CALL(Scatterv, scatterv, in, given.counts, given.displs, type, out, room, type, root)
  CALL(Alltoall, alltoall, in, n, type, out, room, type)
  CALL(Alltoallv, alltoallv, in, given.counts, given.displs, type, out, got.counts, got.displs,
       type)
  CALL(Alltoallw, alltoallw, in, given.counts, given.bytes, given.types, out, got.counts, got.bytes,
       got.types)
  return -1;
}

/* To the next rank and from the one before. */
static int send_on(const Step* s, MPI_Datatype type, void* in, void* out, MPI_Request* requests) {
  const int to = (rank + 1) % size, from = (rank + size - 1) % size;
  if (s->form == blocking)
    return MPI_Sendrecv(in, s->gives, type, to, 7, out, s->takes, type, from, 7, comm,
                        MPI_STATUS_IGNORE);
  if (s->form == nonblocking) {
    const int code = MPI_Irecv(out, s->takes, type, from, 7, comm, &requests[0]);
    if (code != MPI_SUCCESS) return code;
    return MPI_Isend(in, s->gives, type, to, 7, comm, &requests[1]);
  }
  const int code = MPI_Recv_init(out, s->takes, type, from, 7, comm, &requests[0]);
  if (code != MPI_SUCCESS) return code;
  return MPI_Send_init(in, s->gives, type, to, 7, comm, &requests[1]);
}

static int other(const Step* s, MPI_Datatype type, void* in, void* out, MPI_Request* request) {
  if (rank == s->root) {
    CALL(Bcast, bcast, in, s->gives, type, s->root)
  } else {
    CALL(Bcast, bcast, out, s->takes, type, s->root)
  }
  if (strcmp(s->call, "Barrier") == 0)
    return s->form == nonblocking  ? MPI_Ibarrier(comm, request)
           : s->form == persistent ? MPI_Barrier_init(comm, MPI_INFO_NULL, request)
                                   : MPI_Barrier(comm);
  if (strcmp(s->call, "Sendrecv") != 0) fail("no such call", s->call);
  return send_on(s, type, in, out, request);
}

/* Of what was begun. A persistent one is started twice; what has failed once is left alone. */
static int complete(const Step* s, MPI_Request requests[2]) {
  int code = MPI_SUCCESS;
  for (int i = 0; i < (s->form == persistent ? 2 : 1) && code == MPI_SUCCESS; ++i) {
    for (int k = 0; k < 2 && s->form == persistent && code == MPI_SUCCESS; ++k)
      if (requests[k] != MPI_REQUEST_NULL) code = MPI_Start(&requests[k]);
    if (code != MPI_SUCCESS) return code;
    MPI_Status statuses[2];
    code = MPI_Waitall(2, requests, statuses);
    for (int k = 0; code == MPI_ERR_IN_STATUS && k < 2; ++k)
      if (statuses[k].MPI_ERROR != MPI_SUCCESS) code = statuses[k].MPI_ERROR;
  }
  for (int k = 0; k < 2 && code == MPI_SUCCESS; ++k)
    if (requests[k] != MPI_REQUEST_NULL) code = MPI_Request_free(&requests[k]);
  return code;
}

static int is_any(const char* call, const char* const* names) {
  for (; *names != NULL; ++names)
    if (strcmp(call, *names) == 0) return 1;
  return 0;
}

static int run(const Step* s) {
  static const char* const reductions[] = {"Reduce", "Allreduce", "Scan", "Exscan", NULL};
  static const char* const shared[] = {"Reduce_scatter", "Reduce_scatter_block", NULL};
  static const char* const given_to_all[] = {"Scatter",   "Scatterv",  "Alltoall",
                                             "Alltoallv", "Alltoallw", NULL};
  static const char* const taken_from_one[] = {"Bcast", "Scatter", "Scatterv", "Sendrecv", NULL};
  const int is_reduction = is_any(s->call, reductions), is_shared = is_any(s->call, shared);
  const int is_to_all = is_shared || is_any(s->call, given_to_all);
  const int is_from_one = is_any(s->call, taken_from_one);
  const MPI_Datatype type = types[s->type];
  Room in = room_for(is_to_all ? s->gives * size : s->gives, type);
  Room out = room_for(is_reduction || is_shared ? s->gives
                      : is_from_one             ? s->takes
                                                : s->takes * size,
                      type);
  MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  int code = is_reduction || is_shared ? reduction(s, type, in.data, out.data, requests)
                                       : exchange(s, type, in.data, out.data, requests);
  if (code == -1) code = other(s, type, in.data, out.data, requests);
  if (code == MPI_SUCCESS && s->form != blocking) code = complete(s, requests);
  give_back(in, s);
  give_back(out, s);
  return code;
}

static Step step_of(const char* text) {
  Step step;
  for (int i = 0; i < rank && strchr(text, '|') != NULL; ++i) text = strchr(text, '|') + 1;
  if (sscanf(text, "%31[A-Za-z_],%d,%d,%d,%d,%d,%d", step.call, &step.gives, &step.takes,
             &step.type, &step.op, &step.root, &step.form) != 7)
    fail("no step", text);
  return step;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  const MPI_Datatype plain[] = {MPI_INT, MPI_DOUBLE, MPI_CHAR};
  memcpy(types, plain, sizeof plain);
  MPI_Type_contiguous(2, MPI_INT, &types[3]);
  MPI_Type_create_resized(MPI_INT, 0, 12, &types[4]);
  for (int i = 3; i < 5; ++i) MPI_Type_commit(&types[i]);
  const MPI_Op predefined[] = {MPI_SUM, MPI_MAX, MPI_BAND, MPI_PROD};
  memcpy(ops, predefined, sizeof predefined);
  MPI_Op_create(first_of_two, 0, &ops[4]);
  if (strstr(argv[1], "-made") != NULL) MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &comm);
  if (strncmp(argv[1], "return", 6) == 0) MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  for (int i = 2; i < argc; ++i) {
    const Step step = step_of(argv[i]);
    const int code = run(&step);
    int class = MPI_SUCCESS;
    if (code != MPI_SUCCESS) MPI_Error_class(code, &class);
    if (class != MPI_SUCCESS)
      printf("rank %d: %s gives %s\n", rank, step.call,
             class == MPI_ERR_TRUNCATE ? "TRUNCATE"
             : class == MPI_ERR_OP     ? "OP"
                                       : "another");
    fflush(stdout);
  }
  for (int i = 3; i < 5; ++i) MPI_Type_free(&types[i]);
  MPI_Op_free(&ops[4]);
  MPI_Finalize();
  printf("rank %d is through\n", rank);
  return 0;
}
