/* Two communicators of the same ranks, made in every way that there is: each rank uses them for the
 * first time in an order of its own, and gets what was said in each.
 *
 *   identities
 */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static int rank, size, round_number;
static MPI_Comm half;

static void check(int is_right, const char* what) {
  if (is_right) return;
  fprintf(stderr, "WRONG on rank %d: %s\n", rank, what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

/* What is said in the n-th of them, in this round. */
static int said_in(int n) { return 1000 * round_number + n; }

static MPI_Request started_on(MPI_Comm comm, int n, int* value) {
  MPI_Request request;
  int own;
  MPI_Comm_rank(comm, &own);
  *value = own == 0 ? said_in(n) : -1;
  MPI_Ibcast(value, 1, MPI_INT, 0, comm, &request);
  return request;
}

static void use(MPI_Comm a, MPI_Comm b, const char* how) {
  int values[2], own, here = 1, sum = 0;
  MPI_Request requests[2];
  ++round_number;
  MPI_Comm_rank(a, &own);
  if (own % 2 == 0) requests[0] = started_on(a, 0, &values[0]);
  requests[1] = started_on(b, 1, &values[1]);
  if (own % 2 == 1) requests[0] = started_on(a, 0, &values[0]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  check(values[0] == said_in(0) && values[1] == said_in(1), how);
  MPI_Allreduce(&here, &sum, 1, MPI_INT, MPI_SUM, b);
  MPI_Comm_size(b, &own);
  check(sum == own, how);
}

static void use_and_free(MPI_Comm a, MPI_Comm b, const char* how) {
  use(a, b, how);
  MPI_Comm_free(&a);
  MPI_Comm_free(&b);
}

static MPI_Comm between_halves(int tag) {
  MPI_Comm inter;
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank % 2 == 0 ? 1 : 0, tag, &inter);
  return inter;
}

static MPI_Comm merged(MPI_Comm inter) {
  MPI_Comm made;
  MPI_Intercomm_merge(inter, rank % 2, &made);
  return made;
}

static MPI_Comm duplicate(MPI_Comm comm) {
  MPI_Comm made;
  MPI_Comm_dup(comm, &made);
  return made;
}

/* The same numbers and handles come again, and one of them is not used by all. */
static void use_merged(void) {
  MPI_Comm inter = between_halves(7), other = between_halves(8);
  use_and_free(merged(inter), merged(other), "merged of two");
  use_and_free(merged(other), merged(other), "merged of one");
  for (int i = 0; i < 3; ++i) {
    MPI_Comm a = merged(inter), b = merged(other), unused = merged(inter);
    int own, value = 5;
    MPI_Comm_rank(unused, &own);
    if (own == 0) MPI_Send(&value, 1, MPI_INT, 1, 3, unused);
    if (own == 1) MPI_Recv(&value, 1, MPI_INT, 0, 3, unused, MPI_STATUS_IGNORE);
    if (i == 1) use(b, unused, "merged and used by two before");
    MPI_Comm_free(&unused);
    use_and_free(b, a, "merged again");
  }
  MPI_Comm a = merged(inter), b = merged(other), of_a, of_b;
  use(duplicate(a), duplicate(b), "of merged ones");
  MPI_Comm_split(a, 0, rank, &of_a);
  MPI_Comm_split(b, 0, rank, &of_b);
  use_and_free(of_a, of_b, "split of merged ones");
  use_and_free(a, b, "merged, after what is made of them");
  MPI_Comm_free(&inter);
  MPI_Comm_free(&other);
}

static MPI_Comm inters[2], made_at_once[2];
static void* merge_one(void* which) {
  const int n = *(int*)which;
  made_at_once[n] = merged(inters[n]);
  return NULL;
}

static void use_made_at_once(void) {
  for (int i = 0; i < 10; ++i) {
    int numbers[2] = {0, 1};
    pthread_t threads[2];
    for (int n = 0; n < 2; ++n) inters[n] = between_halves(n);
    for (int n = 0; n < 2; ++n) {
      int* which = &numbers[rank % 2 == 0 ? n : 1 - n];
      pthread_create(&threads[n], NULL, merge_one, which);
    }
    for (int n = 0; n < 2; ++n) pthread_join(threads[n], NULL);
    use_and_free(made_at_once[0], made_at_once[1], "merged by two threads at once");
    for (int n = 0; n < 2; ++n) MPI_Comm_free(&inters[n]);
  }
}

static void use_started(void) {
  MPI_Comm made[3], of[2] = {duplicate(MPI_COMM_WORLD), duplicate(MPI_COMM_WORLD)};
  MPI_Request requests[3];
  MPI_Comm_idup_with_info(of[0], MPI_INFO_NULL, &made[0], &requests[0]);
  MPI_Comm_idup(of[1], &made[1], &requests[1]);
  MPI_Comm_idup_with_info(of[1], MPI_INFO_NULL, &made[2], &requests[2]);
  MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
  use(made[0], made[1], "started duplicates");
  use(made[2], made[0], "a started duplicate with hints");
  for (int i = 0; i < 3; ++i) MPI_Comm_free(&made[i]);
  use_and_free(of[0], of[1], "what they are duplicates of");
}

#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
static MPI_Comm of_session(MPI_Session session, const char* tag, MPI_Errhandler handler) {
  MPI_Group group;
  MPI_Comm made;
  MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
  MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, handler, &made);
  MPI_Group_free(&group);
  return made;
}

static void use_of_sessions(void) {
  MPI_Session session;
  MPI_Errhandler handler;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
  MPI_Comm a = of_session(session, "one", MPI_ERRORS_RETURN);
  MPI_Comm b = of_session(session, "other", MPI_ERRORS_ARE_FATAL);
  MPI_Comm_get_errhandler(a, &handler);
  check(handler == MPI_ERRORS_RETURN, "the handler of one of a session");
  MPI_Errhandler_free(&handler);
  use(a, b, "of sessions");
  use_and_free(duplicate(a), duplicate(b), "duplicates of those of sessions");
  use_and_free(a, b, "of sessions, again");
  MPI_Session_finalize(&session);
}
#else
static void use_of_sessions(void) {}
#endif

int main(int argc, char** argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  use_merged();
  use_started();
  use_of_sessions();
  if (provided == MPI_THREAD_MULTIPLE) use_made_at_once();
  MPI_Comm_free(&half);
  if (rank == 0) puts("told apart");
  MPI_Finalize();
  return 0;
}
