/* A program that calls MPI with arguments that are wrong, or uses handles as nobody may.
 *
 * misused HANDLER STEP...: HANDLER is `fatal` or `return`. All ranks do each step: CALL,WRONG,FORM,
 * where WRONG names the argument that is wrong, or `nothing`, and FORM is 1 for the non-blocking
 * call and 2 for the persistent one. What is done with handles is a step of one word
 * (misused_handles.h). Each rank says which class of error each step gave, and that it is through.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { room = 64, ranks_max = 16 };

/* What calls are given. Their messages go to nobody, so that what is right does nothing. */
static struct {
  MPI_Comm comm;
  MPI_Datatype type;
  MPI_Op op;
  MPI_Group group;
  MPI_Win win;
  MPI_Info info;
  int count, root, peer, tag, target, color;
  int counts[ranks_max], displs[ranks_max], dims[2], ranks[2];
  MPI_Datatype types[ranks_max];
  void *in, *out;
} with;

static int rank, size;
static int given[room], got[room], exposed[room];
static MPI_Comm usual, ring;
static MPI_Win window;
static MPI_Group all;

static void begin(void) {
  const int dims[1] = {size}, periodic[1] = {1};
  MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &usual);
  MPI_Cart_create(usual, 1, dims, periodic, 0, &ring);
  MPI_Comm_group(usual, &all);
  MPI_Win_create(exposed, sizeof exposed, sizeof(int), MPI_INFO_NULL, usual, &window);
}

static void end(void) {
  MPI_Win_free(&window);
  MPI_Group_free(&all);
  MPI_Comm_free(&ring);
  MPI_Comm_free(&usual);
}

static void make_right(void) {
  with.comm = usual;
  with.type = MPI_INT;
  with.op = MPI_SUM;
  with.group = all;
  with.win = window;
  with.info = MPI_INFO_NULL;
  with.count = 1;
  with.root = size - 1;
  with.peer = MPI_PROC_NULL;
  with.tag = 3;
  with.target = (rank + 1) % size;
  with.color = 0;
  for (int i = 0; i < ranks_max; ++i) {
    with.counts[i] = 1;
    with.displs[i] = i;
    with.types[i] = MPI_INT;
  }
  with.dims[0] = size;
  with.dims[1] = 1;
  with.ranks[0] = 0;
  with.ranks[1] = size - 1;
  with.in = given;
  with.out = got;
}

/* For a call with displacements in bytes. */
static const int* bytes_of(const int* displs) {
  static int bytes[ranks_max];
  for (int i = 0; i < ranks_max; ++i) bytes[i] = displs[i] * (int)sizeof(int);
  return bytes;
}

static MPI_Datatype uncommitted(void) {
  static MPI_Datatype type = MPI_DATATYPE_NULL;
  if (type == MPI_DATATYPE_NULL) MPI_Type_contiguous(1, MPI_INT, &type);
  return type;
}

static MPI_Info freed_info(void) {
  MPI_Info info, copy;
  MPI_Info_create(&info);
  copy = info;
  MPI_Info_free(&info);
  return copy;
}

static MPI_Comm freed_comm(void) {
  MPI_Comm comm, copy;
  MPI_Comm_dup(usual, &comm);
  copy = comm;
  MPI_Comm_free(&comm);
  return copy;
}

static int make_wrong(const char* what) {
  if (strcmp(what, "nothing") == 0) return 1;
#define WRONG(name, change) \
  if (strcmp(what, name) == 0) return change, 1;
  WRONG("comm", with.comm = MPI_COMM_NULL)
  WRONG("comm_freed", with.comm = freed_comm())
  WRONG("comm_other", with.comm = MPI_COMM_SELF)
  WRONG("type", with.type = with.types[0] = MPI_DATATYPE_NULL)
  WRONG("type_open", with.type = with.types[0] = uncommitted())
  WRONG("op", with.op = MPI_OP_NULL)
  WRONG("op_unfit", (with.op = MPI_BAND, with.type = MPI_DOUBLE))
  WRONG("op_of_windows", with.op = MPI_REPLACE)
  WRONG("group", with.group = MPI_GROUP_NULL)
  WRONG("group_empty", with.group = MPI_GROUP_EMPTY)
  WRONG("win", with.win = MPI_WIN_NULL)
  WRONG("info_freed", with.info = freed_info())
  WRONG("count", with.count = with.counts[0] = -1)
  WRONG("counts_last", with.counts[size - 1] = -3)
  WRONG("root", with.root = size)
  WRONG("root_below", with.root = -7)
  WRONG("peer", with.peer = size)
  WRONG("peer_below", with.peer = -9)
  WRONG("tag", with.tag = -5)
  WRONG("target", with.target = size)
  WRONG("target_below", with.target = -4)
  WRONG("color", with.color = -8)
  WRONG("dims", with.dims[0] = size + 1)
  WRONG("dims_below", with.dims[0] = -1)
  WRONG("ranks", with.ranks[1] = size)
  WRONG("ranks_twice", with.ranks[1] = 0)
  WRONG("in", with.in = NULL)
  WRONG("out", with.out = NULL)
  WRONG("in_place_out", with.out = MPI_IN_PLACE)
  WRONG("in_place_both", with.in = with.out = MPI_IN_PLACE)
  WRONG("alias", with.out = with.in)
  return 0;
}

/* Completes what was begun, if that went well. */
static int complete(int code, int form, MPI_Request* request) {
  if (code == MPI_SUCCESS && form == 2) code = MPI_Start(request);
  if (code == MPI_SUCCESS && form != 0) code = MPI_Wait(request, MPI_STATUS_IGNORE);
  if (code == MPI_SUCCESS && form == 2) code = MPI_Request_free(request);
  return code;
}

#define IS(name) (strcmp(call, name) == 0)
#define CALL(Name, iname, ...)                                                               \
  if (IS(#Name))                                                                             \
    return complete(form == 1 ? MPI_I##iname(__VA_ARGS__, with.comm, &request)               \
                    : form == 2                                                              \
                        ? MPI_##Name##_init(__VA_ARGS__, with.comm, MPI_INFO_NULL, &request) \
                        : MPI_##Name(__VA_ARGS__, with.comm),                                \
                    form, &request);

static int reduce(const char* call, int form) {
  MPI_Request request = MPI_REQUEST_NULL;
  CALL(Reduce, reduce, with.in, with.out, with.count, with.type, with.op, with.root)
  CALL(Allreduce, allreduce, with.in, with.out, with.count, with.type, with.op)
  CALL(Scan, scan, with.in, with.out, with.count, with.type, with.op)
  CALL(Exscan, exscan, with.in, with.out, with.count, with.type, with.op)
  CALL(Reduce_scatter, reduce_scatter, with.in, with.out, with.counts, with.type, with.op)
  CALL(Reduce_scatter_block, reduce_scatter_block, with.in, with.out, with.count, with.type,
       with.op)
  if (IS("Reduce_local"))
    return MPI_Reduce_local(with.in, with.out, with.count, with.type, with.op);
  return -1;
}

#define GIVEN with.in, with.count, with.type
#define GIVEN_EACH with.in, with.counts, with.displs, with.type
#define GIVEN_TYPES with.in, with.counts, bytes_of(with.displs), with.types
#define GOT with.out, with.count, with.type
#define GOT_EACH with.out, with.counts, with.displs, with.type
#define GOT_TYPES with.out, with.counts, bytes_of(with.displs), with.types

static int exchange(const char* call, int form) {
  MPI_Request request = MPI_REQUEST_NULL;
  CALL(Bcast, bcast, with.in, with.count, with.type, with.root)
  CALL(Gather, gather, GIVEN, GOT, with.root)
  CALL(Gatherv, gatherv, GIVEN, GOT_EACH, with.root)
  CALL(Scatter, scatter, GIVEN, GOT, with.root)
  CALL(Scatterv, scatterv, GIVEN_EACH, GOT, with.root)
  CALL(Allgather, allgather, GIVEN, GOT)
  CALL(Allgatherv, allgatherv, GIVEN, GOT_EACH)
  CALL(Alltoall, alltoall, GIVEN, GOT)
  CALL(Alltoallv, alltoallv, GIVEN_EACH, GOT_EACH)
  CALL(Alltoallw, alltoallw, GIVEN_TYPES, GOT_TYPES)
  if (with.comm == usual) with.comm = ring;
  CALL(Neighbor_allgather, neighbor_allgather, GIVEN, GOT)
  CALL(Neighbor_allgatherv, neighbor_allgatherv, GIVEN, GOT_EACH)
  CALL(Neighbor_alltoall, neighbor_alltoall, GIVEN, GOT)
  CALL(Neighbor_alltoallv, neighbor_alltoallv, GIVEN_EACH, GOT_EACH)
  return -1;
}

static int talk(const char* call, int form) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Status status;
  MPI_Message message = MPI_MESSAGE_NULL;
  int flag = 0;
#define TALK(Name, iname, ...)                                                        \
  if (IS(#Name))                                                                      \
    return complete(form == 1   ? MPI_I##iname(__VA_ARGS__, with.comm, &request)      \
                    : form == 2 ? MPI_##Name##_init(__VA_ARGS__, with.comm, &request) \
                                : MPI_##Name(__VA_ARGS__, with.comm),                 \
                    form, &request);
  TALK(Send, send, GIVEN, with.peer, with.tag)
  TALK(Ssend, ssend, GIVEN, with.peer, with.tag)
  TALK(Bsend, bsend, GIVEN, with.peer, with.tag)
  TALK(Rsend, rsend, GIVEN, with.peer, with.tag)
  if (IS("Recv") && form == 0)
    return MPI_Recv(GOT, with.peer, with.tag, with.comm, MPI_STATUS_IGNORE);
  if (IS("Recv"))
    return complete(form == 1 ? MPI_Irecv(GOT, with.peer, with.tag, with.comm, &request)
                              : MPI_Recv_init(GOT, with.peer, with.tag, with.comm, &request),
                    form, &request);
  if (IS("Sendrecv"))
    return MPI_Sendrecv(GIVEN, with.peer, with.tag, GOT, with.peer, with.tag, with.comm, &status);
  if (IS("Sendrecv_replace"))
    return MPI_Sendrecv_replace(GIVEN, with.peer, with.tag, with.peer, with.tag, with.comm,
                                &status);
  if (IS("Isendrecv"))
    return complete(
        MPI_Isendrecv(GIVEN, with.peer, with.tag, GOT, with.peer, with.tag, with.comm, &request), 1,
        &request);
  if (IS("Probe")) return MPI_Probe(with.peer, with.tag, with.comm, &status);
  if (IS("Iprobe")) return MPI_Iprobe(with.peer, with.tag, with.comm, &flag, &status);
  if (IS("Mprobe")) return MPI_Mprobe(with.peer, with.tag, with.comm, &message, &status);
  if (IS("Improbe")) return MPI_Improbe(with.peer, with.tag, with.comm, &flag, &message, &status);
  return -1;
}

/* In an epoch of fences. */
static int access_target(const char* call) {
  MPI_Request request = MPI_REQUEST_NULL;
#define AT with.target, 0, with.count, with.type
  if (IS("Put")) return MPI_Put(GIVEN, AT, with.win);
  if (IS("Get")) return MPI_Get(GOT, AT, with.win);
  if (IS("Accumulate")) return MPI_Accumulate(GIVEN, AT, with.op, with.win);
  if (IS("Get_accumulate")) return MPI_Get_accumulate(GIVEN, GOT, AT, with.op, with.win);
  if (IS("Fetch_and_op"))
    return MPI_Fetch_and_op(with.in, with.out, with.type, with.target, 0, with.op, with.win);
  if (IS("Compare_and_swap"))
    return MPI_Compare_and_swap(with.in, with.in, with.out, with.type, with.target, 0, with.win);
  if (IS("Rput")) return MPI_Rput(GIVEN, AT, with.win, &request);
  if (IS("Win_flush")) return MPI_Win_flush(with.target, with.win);
  if (IS("Win_lock")) return MPI_Win_lock(MPI_LOCK_SHARED, with.target, 0, with.win);
  if (IS("Win_unlock")) return MPI_Win_unlock(with.target, with.win);
  if (IS("Win_start")) return MPI_Win_start(with.group, 0, with.win);
  if (IS("Win_post")) return MPI_Win_post(with.group, 0, with.win);
  if (IS("Win_complete")) return MPI_Win_complete(with.win);
  if (IS("Win_wait")) return MPI_Win_wait(with.win);
  return -1;
}

static int share(const char* call) {
  int code = access_target(call);
  MPI_Win win = MPI_WIN_NULL;
  if (IS("Win_fence")) code = MPI_Win_fence(0, with.win);
  if (IS("Win_create"))
    code = MPI_Win_create(exposed, with.count * (MPI_Aint)sizeof(int), with.count, with.info,
                          with.comm, &win);
  if (IS("Win_allocate")) {
    void* memory;
    code = MPI_Win_allocate(with.count * (MPI_Aint)sizeof(int), with.count, with.info, with.comm,
                            &memory, &win);
  }
  if (code == MPI_SUCCESS && win != MPI_WIN_NULL) code = MPI_Win_free(&win);
  return code;
}

#define MAKE(Name, ...) \
  if (IS(#Name)) code = MPI_##Name(__VA_ARGS__, &comm);

static int make(const char* call) {
  const int periodic[2] = {1, 1}, kept[2] = {1, 0};
  int code = -1, index[ranks_max], edges[ranks_max];
  MPI_Comm comm = MPI_COMM_NULL;
  for (int i = 0; i < ranks_max; ++i) {
    index[i] = i + 1;
    edges[i] = with.ranks[i % 2];
  }
  MAKE(Comm_dup, with.comm)
  MAKE(Comm_dup_with_info, with.comm, with.info)
  MAKE(Comm_split, with.comm, with.color, rank)
  MAKE(Comm_split_type, with.comm, with.color == 0 ? MPI_COMM_TYPE_SHARED : with.color, rank,
       with.info)
  MAKE(Comm_create, with.comm, with.group)
  MAKE(Comm_create_group, with.comm, with.group, with.tag)
  MAKE(Cart_create, with.comm, 2, with.dims, periodic, 0)
  MAKE(Graph_create, with.comm, size, index, edges, 0)
  MAKE(Dist_graph_create_adjacent, with.comm, with.count, with.ranks, with.displs, with.count,
       with.ranks, with.displs, with.info, 0)
  MAKE(Dist_graph_create, with.comm, 1, &with.ranks[1], with.counts, with.ranks, with.displs,
       with.info, 0)
  MAKE(Cart_sub, with.comm == usual ? ring : with.comm, kept)
  MAKE(Intercomm_merge, with.comm, 0)
  if (code == MPI_SUCCESS && comm != MPI_COMM_NULL) code = MPI_Comm_free(&comm);
  return code;
}

static int ask(const char* call) {
  int number = 0, coords[2], ranks[2] = {0, 0};
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Comm other = MPI_COMM_NULL;
  MPI_Info info;
  int code = -1;
  if (IS("Comm_rank")) return MPI_Comm_rank(with.comm, &number);
  if (IS("Comm_size")) return MPI_Comm_size(with.comm, &number);
  if (IS("Comm_remote_size")) return MPI_Comm_remote_size(with.comm, &number);
  if (IS("Comm_compare")) return MPI_Comm_compare(with.comm, usual, &number);
  if (IS("Comm_test_inter")) return MPI_Comm_test_inter(with.comm, &number);
  if (IS("Comm_set_info")) return MPI_Comm_set_info(with.comm, with.info);
  if (IS("Comm_get_info")) return MPI_Comm_get_info(with.comm, &info);
  if (IS("Comm_set_name")) return MPI_Comm_set_name(with.comm, "a name");
  if (IS("Comm_set_errhandler"))
    return MPI_Comm_set_errhandler(with.comm,
                                   with.count < 0 ? MPI_ERRHANDLER_NULL : MPI_ERRORS_RETURN);
  if (IS("Comm_call_errhandler")) return MPI_Comm_call_errhandler(with.comm, MPI_ERR_OTHER);
  if (IS("Comm_get_parent")) return MPI_Comm_get_parent(&other);
  if (IS("Cart_rank")) return MPI_Cart_rank(with.comm, with.ranks, &number);
  if (IS("Cart_coords")) return MPI_Cart_coords(ring, with.peer, 1, coords);
  if (IS("Topo_test")) return MPI_Topo_test(with.comm, &number);
  if (IS("Group_translate_ranks"))
    return MPI_Group_translate_ranks(with.group, 2, with.ranks, all, ranks);
  if (IS("Comm_group")) code = MPI_Comm_group(with.comm, &group);
  if (IS("Group_incl")) code = MPI_Group_incl(with.group, 2, with.ranks, &group);
  if (IS("Group_excl")) code = MPI_Group_excl(with.group, 2, with.ranks, &group);
  if (IS("Group_union")) code = MPI_Group_union(with.group, all, &group);
  if (code == MPI_SUCCESS && group != MPI_GROUP_EMPTY && group != MPI_GROUP_NULL)
    code = MPI_Group_free(&group);
  return code;
}

#include "misused_handles.h"

static int run(const char* step) {
  char call[48], wrong[24] = "nothing";
  int form = 0;
  make_right();
  const int words = sscanf(step, "%47[A-Za-z_],%23[a-z_],%d", call, wrong, &form);
  int code = words == 1 ? use_handles(call) : -1;
  if (!make_wrong(wrong)) strcpy(call, "no such mistake");
  if (code == -1) code = reduce(call, form);
  if (code == -1) code = exchange(call, form);
  if (code == -1) code = talk(call, form);
  if (code == -1) code = share(call);
  if (code == -1) code = make(call);
  if (code == -1) code = ask(call);
  if (code != -1) return code;
  fprintf(stderr, "WRONG: no such step: %s\n", step);
  exit(128); /* which is no class of MPI */
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  begin();
  const MPI_Comm comms[] = {MPI_COMM_WORLD, MPI_COMM_SELF, usual, ring};
  for (int i = 0; i < 4 && strcmp(argv[1], "return") == 0; ++i)
    MPI_Comm_set_errhandler(comms[i], MPI_ERRORS_RETURN);
  if (strcmp(argv[1], "return") == 0) MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
  for (int i = 2; i < argc; ++i) {
    const int code = run(argv[i]);
    int class = MPI_SUCCESS;
    if (code != MPI_SUCCESS) MPI_Error_class(code, &class);
    printf("rank %d: %s gives %d\n", rank, argv[i], class);
    fflush(stdout);
  }
  int sum = 1;
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, usual);
  end();
  MPI_Finalize();
  printf("rank %d is through: %d\n", rank, sum);
  return 0;
}
