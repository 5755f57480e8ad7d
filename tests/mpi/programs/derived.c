/* Everything that a program does with a communicator, on one that was made after a loss.
 *
 *   derived      to be run with --on-loss error; rank 1 dies
 *
 * The survivors shrink, so that the ranks above 1 move down by one, and go through the calls that
 * name ranks, give statuses, or make communicators out of it. Each prints how many checks it made.
 */
#include <mpi.h>
#include <resprout/resprout.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size, world_rank, checks;
static MPI_Comm comm;

static void check(int is_right, const char* what) {
  ++checks;
  if (is_right) return;
  fprintf(stderr, "WRONG: rank %d (%d of the world): %s\n", rank, world_rank, what);
  fflush(stderr);
  _exit(1);
}

static int next(void) { return (rank + 1) % size; }
static int previous(void) { return (rank + size - 1) % size; }

static void is_the_group_of_the_living(void) {
  MPI_Group group, world;
  MPI_Comm_group(comm, &group);
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  int count, first = 0, found;
  MPI_Group_size(group, &count);
  check(count == size, "size of the group");
  MPI_Group_translate_ranks(group, 1, &rank, world, &found);
  check(found == world_rank, "rank in the group");
  MPI_Group_translate_ranks(world, 1, &world_rank, group, &first);
  check(first == rank, "rank in the world");
  MPI_Group_free(&group);
  MPI_Group_free(&world);
}

static void blocking_calls_name_ranks(void) {
  int there = world_rank, here = -1;
  MPI_Status status;
  MPI_Sendrecv(&there, 1, MPI_INT, next(), 5, &here, 1, MPI_INT, MPI_ANY_SOURCE, 5, comm, &status);
  check(status.MPI_SOURCE == previous() && status.MPI_TAG == 5, "source of MPI_Sendrecv");
  if (rank == 0)
    for (int i = 1; i < size; ++i) {
      MPI_Recv(&here, 1, MPI_INT, MPI_ANY_SOURCE, 6, comm, &status);
      check(here == status.MPI_SOURCE, "source of a wildcard");
    }
  else
    MPI_Send(&rank, 1, MPI_INT, 0, 6, comm);
  int own = 7;
  MPI_Sendrecv_replace(&own, 1, MPI_INT, next(), 7, previous(), 7, comm, &status);
  check(status.MPI_SOURCE == previous() && own == 7, "source of MPI_Sendrecv_replace");
  MPI_Request exchange;
  MPI_Isendrecv(&there, 1, MPI_INT, next(), 8, &here, 1, MPI_INT, MPI_ANY_SOURCE, 8, comm,
                &exchange);
  MPI_Wait(&exchange, &status);
  check(status.MPI_SOURCE == previous() && status.MPI_TAG == 8, "source of MPI_Isendrecv");
  check(MPI_Send(&own, 1, MPI_INT, size, 0, comm) != MPI_SUCCESS, "a rank that it does not have");
  check(MPI_Send(&own, 1, MPI_INT, MPI_PROC_NULL, 0, comm) == MPI_SUCCESS, "MPI_PROC_NULL");
}

static void probes_name_ranks(void) {
  int here = -1, flag = 0;
  MPI_Status status;
  MPI_Message message;
  MPI_Request request;
  for (int kind = 0; kind < 4; ++kind) {
    MPI_Isend(&rank, 1, MPI_INT, next(), kind, comm, &request);
    if (kind == 0) {
      MPI_Probe(MPI_ANY_SOURCE, kind, comm, &status);
    } else if (kind == 1) {
      for (flag = 0; !flag;) MPI_Iprobe(MPI_ANY_SOURCE, kind, comm, &flag, &status);
    } else if (kind == 2) {
      MPI_Mprobe(MPI_ANY_SOURCE, kind, comm, &message, &status);
    } else {
      for (flag = 0; !flag;) MPI_Improbe(MPI_ANY_SOURCE, kind, comm, &flag, &message, &status);
    }
    check(status.MPI_SOURCE == previous(), "source of a probe");
    memset(&status, 0xff, sizeof status);
    if (kind < 2) {
      MPI_Recv(&here, 1, MPI_INT, previous(), kind, comm, &status);
    } else if (kind == 2) {
      MPI_Mrecv(&here, 1, MPI_INT, &message, &status);
    } else {
      MPI_Request receive;
      MPI_Imrecv(&here, 1, MPI_INT, &message, &receive);
      MPI_Wait(&receive, &status);
    }
    check(status.MPI_SOURCE == previous() && here == previous(), "what was probed");
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
}

enum { several = 6 };

/* Receives and sends of one round, wildcards among them. */
static void start(int* here, MPI_Request* requests) {
  for (int i = 0; i < several / 2; ++i)
    MPI_Irecv(&here[i], 1, MPI_INT, i % 2 ? MPI_ANY_SOURCE : previous(), i, comm, &requests[i]);
  for (int i = 0; i < several / 2; ++i)
    MPI_Issend(&rank, 1, MPI_INT, next(), i, comm, &requests[several / 2 + i]);
}

static void look_at(int i, const MPI_Status* status, const int* here) {
  if (i >= several / 2) return;
  check(status->MPI_SOURCE == previous(), "source of a request");
  check(status->MPI_TAG == i, "tag of a request");
  check(here[i] == previous(), "what came");
}

static void every_way_to_complete_names_ranks(void) {
  int here[several], index, flag, count, indices[several], done = 0;
  MPI_Request requests[several];
  MPI_Status statuses[several], status;
  start(here, requests);
  MPI_Waitall(several, requests, statuses);
  for (int i = 0; i < several; ++i) look_at(i, &statuses[i], here);
  start(here, requests);
  for (flag = 0; !flag;) MPI_Testall(several, requests, &flag, statuses);
  for (int i = 0; i < several; ++i) look_at(i, &statuses[i], here);
  start(here, requests);
  for (int i = 0; i < several; ++i) {
    MPI_Waitany(several, requests, &index, &status);
    look_at(index, &status, here);
  }
  MPI_Waitany(several, requests, &index, &status);
  check(index == MPI_UNDEFINED, "nothing is left for MPI_Waitany");
  start(here, requests);
  for (int i = 0; i < several; ++i) {
    for (flag = 0; !flag;) MPI_Testany(several, requests, &index, &flag, &status);
    look_at(index, &status, here);
  }
  start(here, requests);
  for (done = 0; done < several; done += count) {
    MPI_Waitsome(several, requests, &count, indices, statuses);
    for (int k = 0; k < count; ++k) look_at(indices[k], &statuses[k], here);
  }
  start(here, requests);
  for (done = 0; done < several; done += count) {
    MPI_Testsome(several, requests, &count, indices, statuses);
    for (int k = 0; k < count; ++k) look_at(indices[k], &statuses[k], here);
  }
  MPI_Testsome(several, requests, &count, indices, statuses);
  check(count == MPI_UNDEFINED, "nothing is left for MPI_Testsome");
  start(here, requests);
  for (int i = 0; i < several; ++i) {
    for (flag = 0; !flag;) MPI_Request_get_status(requests[i], &flag, &status);
    look_at(i, &status, here);
    MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
  }
}

static void persistent_requests_name_ranks(void) {
  int here = -1, flag;
  MPI_Request requests[2];
  MPI_Status status;
  MPI_Recv_init(&here, 1, MPI_INT, MPI_ANY_SOURCE, 3, comm, &requests[0]);
  MPI_Send_init(&rank, 1, MPI_INT, next(), 3, comm, &requests[1]);
  for (int round = 0; round < 3; ++round) {
    here = -1;
    MPI_Startall(2, requests);
    MPI_Wait(&requests[0], &status);
    check(status.MPI_SOURCE == previous() && here == previous(), "persistent requests");
    for (flag = 0; !flag;) MPI_Test(&requests[1], &flag, MPI_STATUS_IGNORE);
  }
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
}

static int copies = 0, deletions = 0;

static int copy(MPI_Comm from, int key, void* extra, void* value, void* copied, int* flag) {
  (void)from, (void)key, (void)extra;
  ++copies;
  *(void**)copied = (char*)value + 1;
  *flag = 1;
  return MPI_SUCCESS;
}

static int forget(MPI_Comm from, int key, void* value, void* extra) {
  (void)from, (void)key, (void)value, (void)extra;
  ++deletions;
  return MPI_SUCCESS;
}

static void it_has_attributes_and_a_name(void) {
  MPI_Comm dup;
  int key, flag, length, compared, *tag_max;
  char *value, base[2], name[MPI_MAX_OBJECT_NAME];
  MPI_Comm_create_keyval(copy, forget, &key, NULL);
  MPI_Comm_set_attr(comm, key, base);
  MPI_Comm_dup(comm, &dup);
  MPI_Comm_get_attr(dup, key, &value, &flag);
  check(flag && value == base + 1 && copies == 1, "a copied attribute");
  MPI_Comm_get_attr(dup, MPI_TAG_UB, &tag_max, &flag);
  check(flag && *tag_max >= 32767, "MPI_TAG_UB");
  MPI_Comm_set_name(dup, "copy");
  MPI_Comm_compare(comm, dup, &compared);
  check(compared == MPI_CONGRUENT, "a duplicate is congruent");
  MPI_Comm_compare(dup, dup, &compared);
  check(compared == MPI_IDENT, "it is itself");
  MPI_Comm_compare(dup, MPI_COMM_WORLD, &compared);
  check(compared == MPI_UNEQUAL, "it is not the world");
  MPI_Comm_free(&dup);
  check(dup == MPI_COMM_NULL && deletions == 1, "a deleted attribute");
  MPI_Comm_dup(comm, &dup);
  MPI_Comm_get_name(dup, name, &length);
  check(length == 0, "the name of another one");
  MPI_Comm_free(&dup);
  MPI_Comm_delete_attr(comm, key);
  MPI_Comm_free_keyval(&key);
}

static int heard;

static void hear(MPI_Comm* of, int* code, ...) {
  (void)of, (void)code;
  ++heard;
}

static void it_keeps_a_handler_that_the_program_has_freed(void) {
  MPI_Comm dup;
  MPI_Errhandler handler;
  MPI_Comm_dup(comm, &dup);
  MPI_Comm_create_errhandler(hear, &handler);
  MPI_Comm_set_errhandler(dup, handler);
  MPI_Errhandler_free(&handler);
  MPI_Comm_call_errhandler(dup, MPI_ERR_ARG);
  MPI_Comm_call_errhandler(dup, MPI_ERR_ARG);
  check(heard == 2, "a handler that the program has freed");
  MPI_Comm_free(&dup);
}

static void the_sum_of(MPI_Comm of, int due) {
  int one = 1, sum = 0;
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, of);
  check(sum == due, "sum");
}

static void communicators_are_made_of_it(void) {
  MPI_Comm made, grid, row;
  MPI_Group group, some;
  MPI_Request request;
  int count, place, dims[2] = {0, 0}, periods[2] = {0, 1}, remain[2] = {1, 0}, there[2], up, down;
  MPI_Comm_split(comm, rank % 2, -rank, &made);
  MPI_Comm_size(made, &count);
  MPI_Comm_rank(made, &place);
  check(count == (size + 1 - rank % 2) / 2 && place == count - 1 - rank / 2, "MPI_Comm_split");
  the_sum_of(made, count);
  MPI_Comm_free(&made);
  MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &made);
  the_sum_of(made, size);
  MPI_Comm_free(&made);
  MPI_Comm_group(comm, &group);
  MPI_Group_incl(group, 2, (int[]){size - 1, 0}, &some);
  MPI_Comm_create(comm, some, &made);
  check((made != MPI_COMM_NULL) == (rank == 0 || rank == size - 1), "MPI_Comm_create");
  if (made != MPI_COMM_NULL) {
    MPI_Comm_rank(made, &place);
    check(place == (rank == 0), "rank in MPI_Comm_create");
    the_sum_of(made, 2);
    MPI_Comm_free(&made);
    for (int i = 0; i < 2; ++i) {
      MPI_Comm_create_group(comm, some, 4, &made);
      the_sum_of(made, 2);
      MPI_Comm_free(&made);
    }
  }
  MPI_Group_free(&some);
  MPI_Group_free(&group);
  MPI_Comm_idup(comm, &made, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  the_sum_of(made, size);
  MPI_Comm_free(&made);
  MPI_Dims_create(size, 2, dims);
  MPI_Cart_create(comm, 2, dims, periods, 0, &grid);
  MPI_Topo_test(grid, &count);
  check(count == MPI_CART, "MPI_Topo_test");
  MPI_Cart_coords(grid, rank, 2, there);
  check(there[0] == rank / dims[1] && there[1] == rank % dims[1], "MPI_Cart_coords");
  MPI_Cart_rank(grid, there, &place);
  check(place == rank, "MPI_Cart_rank");
  MPI_Cart_shift(grid, 0, 1, &up, &down);
  check(down == (there[0] + 1 < dims[0] ? rank + dims[1] : MPI_PROC_NULL), "a border");
  MPI_Cart_shift(grid, 1, -1, &up, &down);
  check(up == there[0] * dims[1] + (there[1] + 1) % dims[1], "a period");
  MPI_Cart_sub(grid, remain, &row);
  MPI_Comm_rank(row, &place);
  check(place == there[0], "MPI_Cart_sub");
  the_sum_of(row, dims[0]);
  MPI_Comm_free(&row);
  MPI_Comm_free(&grid);
}

static void it_can_be_made_often(void) {
  for (int i = 0; i < 100; ++i) {
    MPI_Comm dup;
    MPI_Comm_dup(comm, &dup);
    the_sum_of(dup, size);
    MPI_Comm_free(&dup);
  }
}

/* More often than there are communicators in the pool, of which one that is waited on is not used
 * again.
 */
static void a_wrong_exchange_leaves_nothing_to_wait_for(void) {
  for (int i = 0; i < 40; ++i) {
    MPI_Comm dup;
    int here = -1;
    check(MPI_Comm_dup(comm, &dup) == MPI_SUCCESS, "MPI_Comm_dup");
    check(MPI_Sendrecv(&i, 1, MPI_INT, size, 1, &here, 1, MPI_INT, next(), 1, dup,
                       MPI_STATUS_IGNORE) != MPI_SUCCESS,
          "MPI_Sendrecv to no rank");
    MPI_Comm_free(&dup);
  }
}

/* Who asked to be told of losses is. */
static void the_damaged_world_is_not_duplicated(void) {
  MPI_Comm made;
  MPI_Request request;
  check(MPI_Comm_dup(MPI_COMM_WORLD, &made) == MPIX_ERR_PROC_FAILED, "MPI_Comm_dup");
  check(MPI_Comm_idup(MPI_COMM_WORLD, &made, &request) == MPI_SUCCESS, "MPI_Comm_idup");
  check(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPIX_ERR_PROC_FAILED, "the end of it");
  check(made == MPI_COMM_NULL, "what it gives");
}

static void windows_on_it_have_fences(void) {
  MPI_Win window;
  int own, all, there = -1;
  MPI_Comm_rank(comm, &own);
  MPI_Comm_size(comm, &all);
  check(MPI_Win_create(&there, sizeof there, 1, MPI_INFO_NULL, comm, &window) == MPI_SUCCESS,
        "a window");
  MPI_Win_fence(0, window);
  check(MPI_Put(&own, 1, MPI_INT, (own + 1) % all, 0, 1, MPI_INT, window) == MPI_SUCCESS, "a put");
  check(MPI_Win_fence(MPI_MODE_NOSUCCEED, window) == MPI_SUCCESS, "a fence");
  check(there == (own + all - 1) % all, "what was put");
  MPI_Win_free(&window);
}

static void what_it_cannot_do_is_said(void) {
  MPI_Comm made;
  MPI_Win window;
  void* base;
  check(MPI_Intercomm_create(comm, 0, MPI_COMM_WORLD, 0, 1, &made) == MPI_ERR_COMM, "a bridge");
  check(MPI_Win_allocate_shared(8, 1, MPI_INFO_NULL, comm, &base, &window) == MPI_ERR_COMM,
        "a window for loads and stores");
}

/* Over and over: more often than there are communicators in the pool. Messages are left in each. */
static void it_can_be_revoked_often(void) {
  for (int i = 0; i < 40; ++i) {
    MPI_Comm shrunken;
    MPI_Request request;
    int here = -1;
    int flag = 1;
    MPIX_Comm_agree(comm, &flag); /* nobody is still in an earlier call on it */
    MPI_Send(&i, 1, MPI_INT, next(), i % 2 ? 1000 : 1, comm);
    MPI_Irecv(&here, 1, MPI_INT, next(), 2, comm, &request);
    MPIX_Comm_revoke(comm);
    check(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPIX_ERR_REVOKED, "a receive on a revoked one");
    if (i % 2) {
      MPIX_Comm_ishrink(comm, &shrunken, &request);
      if (MPI_Wait(&request, MPI_STATUS_IGNORE) != MPI_SUCCESS) MPIX_Comm_shrink(comm, &shrunken);
    } else {
      check(MPIX_Comm_shrink(comm, &shrunken) == MPI_SUCCESS, "MPIX_Comm_shrink");
    }
    MPI_Comm_free(&comm);
    comm = shrunken;
    the_sum_of(comm, size);
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &here, MPI_STATUS_IGNORE);
    check(!here, "nothing is left of a communicator that is gone");
    the_sum_of(comm, size);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Barrier(MPI_COMM_WORLD);
  if (world_rank == 1) kill(getpid(), SIGKILL);
  while (MPI_Barrier(MPI_COMM_WORLD) == MPI_SUCCESS) continue;
  check(MPIX_Comm_shrink(MPI_COMM_WORLD, &comm) == MPI_SUCCESS, "MPIX_Comm_shrink");
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  is_the_group_of_the_living();
  blocking_calls_name_ranks();
  probes_name_ranks();
  every_way_to_complete_names_ranks();
  persistent_requests_name_ranks();
  it_has_attributes_and_a_name();
  it_keeps_a_handler_that_the_program_has_freed();
  communicators_are_made_of_it();
  it_can_be_made_often();
  a_wrong_exchange_leaves_nothing_to_wait_for();
  the_damaged_world_is_not_duplicated();
  windows_on_it_have_fences();
  what_it_cannot_do_is_said();
  it_can_be_revoked_often();
  MPI_Comm_free(&comm);
  printf("%d checks\n", checks);
  MPI_Finalize();
  return 0;
}
