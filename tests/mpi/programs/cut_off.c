/* What a process can do once it is cut off. For 6 ranks, two on each of three hosts; 4, or 4 and 5,
 * are cut off.
 *
 *   cut_off FOLDER WAIT4 WAIT5
 *
 * Rank 4 waits in WAIT4, and 5 in WAIT5, until that ends with an error: allreduce, host (a barrier
 * of the processes of its host), recv, ssend, anybody, probe, waitall, ibarrier, agree, shrink, and
 * 5 may be one of the others (join). Then it says FOLDER/saved-RANK, and lives until there is
 * FOLDER/release. Rank 1 waits for a message of 4 and 0 for one that it started to receive, or 5
 * for 4 in a barrier of their host; then they and the others meet until there is FOLDER/enough, and
 * say FOLDER/saved-RANK.
 */
#include <mpi.h>

#include <mpi-ext.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHECK(condition)                                                                    \
  do {                                                                                      \
    if (!(condition)) {                                                                     \
      fprintf(stderr, "WRONG: rank %d, %s:%d: %s\n", rank, __func__, __LINE__, #condition); \
      fflush(stderr);                                                                       \
      _exit(1);                                                                             \
    }                                                                                       \
  } while (0)

static int rank, size;
static const char* folder;
static MPI_Comm host;

static int is_there(const char* name) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return access(path, F_OK) == 0;
}

static void say(const char* name) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s-%d", folder, name, rank);
  FILE* file = fopen(path, "w");
  CHECK(file != NULL && fclose(file) == 0);
}

static int is_failed(int code) {
  int class;
  MPI_Error_class(code, &class);
  return class == MPIX_ERR_PROC_FAILED;
}

static int is_cut_off(int code) {
  char text[MPI_MAX_ERROR_STRING];
  int length;
  MPI_Error_string(code, text, &length);
  return is_failed(code) && length == (int)strlen(text) && strstr(text, "cut off") != NULL;
}

static int meet(MPI_Comm comm) {
  int one = 1, sum = 0;
  return MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
}

/* For a message from each of the other hosts, and until all of their ranks have received one. */
static int wait_for_all(void) {
  enum { RECEIVES = 2, ALL = 6 };
  static int buffers[ALL]; /* what a loss leaves open stays so */
  MPI_Request requests[ALL];
  MPI_Status statuses[ALL];
  for (int i = 0; i < ALL; ++i) {
    const int code =
        i < RECEIVES
            ? MPI_Irecv(&buffers[i], 1, MPI_INT, 2 * i, 5, MPI_COMM_WORLD, &requests[i])
            : MPI_Issend(&buffers[i], 1, MPI_INT, i - RECEIVES, 5, MPI_COMM_WORLD, &requests[i]);
    if (code != MPI_SUCCESS) return code;
  }
  CHECK(MPI_Waitall(ALL, requests, statuses) == MPI_ERR_IN_STATUS);
  for (int i = 0; i < ALL; ++i)
    if (is_failed(statuses[i].MPI_ERROR)) return statuses[i].MPI_ERROR;
  return MPI_SUCCESS;
}

static int wait_in(const char* what) {
  int buffer = 0, code;
  MPI_Status status;
  MPI_Request request;
  MPI_Comm made;
  if (strcmp(what, "recv") == 0)
    return MPI_Recv(&buffer, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (strcmp(what, "ssend") == 0) return MPI_Ssend(&buffer, 1, MPI_INT, 0, 5, MPI_COMM_WORLD);
  if (strcmp(what, "anybody") == 0)
    return MPI_Recv(&buffer, 1, MPI_INT, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (strcmp(what, "probe") == 0) return MPI_Probe(2, 5, MPI_COMM_WORLD, &status);
  if (strcmp(what, "agree") == 0) return MPIX_Comm_agree(MPI_COMM_WORLD, &buffer);
  if (strcmp(what, "shrink") == 0) return MPIX_Comm_shrink(MPI_COMM_WORLD, &made);
  if (strcmp(what, "host") == 0) return MPI_Barrier(host);
  if (strcmp(what, "ibarrier") == 0) {
    code = MPI_Ibarrier(MPI_COMM_WORLD, &request);
    return code != MPI_SUCCESS ? code : MPI_Wait(&request, &status);
  }
  if (strcmp(what, "waitall") == 0) return wait_for_all();
  CHECK(strcmp(what, "allreduce") == 0);
  do {
    code = meet(MPI_COMM_WORLD);
  } while (code == MPI_SUCCESS);
  return code;
}

/* Whatever needs others fails, and what does not goes on. */
static void check_life_alone(void) {
  int flag = 1, self, number = 7, received = 0;
  char name[MPI_MAX_PROCESSOR_NAME];
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Request request;
  MPI_Status status;
  CHECK(is_cut_off(meet(MPI_COMM_WORLD)));
  CHECK(is_cut_off(meet(host)));
  CHECK(is_cut_off(MPI_Barrier(MPI_COMM_WORLD)));
  CHECK(is_cut_off(MPI_Send(&number, 1, MPI_INT, 1, 4, MPI_COMM_WORLD)));
  CHECK(MPI_Isend(&number, 1, MPI_INT, 1, 4, MPI_COMM_WORLD, &request) == MPI_SUCCESS);
  CHECK(is_cut_off(MPI_Wait(&request, &status)));
  CHECK(is_cut_off(
      MPI_Recv(&number, 1, MPI_INT, MPI_ANY_SOURCE, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE)));
  CHECK(is_cut_off(MPI_Comm_dup(MPI_COMM_WORLD, &made)) && made == MPI_COMM_NULL);
  CHECK(is_cut_off(MPI_Comm_split(MPI_COMM_WORLD, 0, 0, &made)) && made == MPI_COMM_NULL);
  CHECK(MPIX_Comm_revoke(MPI_COMM_WORLD) == MPI_SUCCESS);
  CHECK(is_cut_off(MPIX_Comm_agree(MPI_COMM_WORLD, &flag)));
  CHECK(is_cut_off(MPIX_Comm_shrink(MPI_COMM_WORLD, &made)));
  CHECK(MPI_Comm_rank(MPI_COMM_WORLD, &self) == MPI_SUCCESS && self == rank);
  CHECK(MPI_Get_processor_name(name, &self) == MPI_SUCCESS && MPI_Wtime() > 0);
  CHECK(MPI_Sendrecv(&number, 1, MPI_INT, 0, 0, &received, 1, MPI_INT, 0, 0, MPI_COMM_SELF,
                     &status) == MPI_SUCCESS);
  CHECK(meet(MPI_COMM_SELF) == MPI_SUCCESS && received == number);
  CHECK(MPI_Comm_free(&host) == MPI_SUCCESS && host == MPI_COMM_NULL);
}

static void live_alone(const char* what) {
  int is_over = 0, code;
  /* The first of those that it does not hear are losses like any other. */
  while (!is_cut_off(code = wait_in(what))) {
    CHECK(is_failed(code));
    usleep(1000);
  }
  check_life_alone();
  say("saved");
  while (!is_there("release")) usleep(10000);
  CHECK(MPI_Finalize() == MPI_SUCCESS);
  CHECK(MPI_Finalized(&is_over) == MPI_SUCCESS && is_over);
}

static void go_on(int is_with_host, int is_for_4) {
  int number = 0, is_enough = 0, is_known = 0;
  MPI_Request request;
  char text[MPI_MAX_ERROR_STRING];
  if (is_for_4 && rank == 0) {
    CHECK(MPI_Irecv(&number, 1, MPI_INT, 4, 6, MPI_COMM_WORLD, &request) == MPI_SUCCESS);
    CHECK(is_failed(MPI_Wait(&request, MPI_STATUS_IGNORE)));
  }
  if (is_for_4 && rank == 1) {
    int code = MPI_Recv(&number, 1, MPI_INT, 4, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(is_failed(code) && MPI_Error_string(code, text, &number) == MPI_SUCCESS);
    CHECK(strstr(text, "cut off") == NULL);
  }
  if (is_with_host) CHECK(MPI_Barrier(host) == MPI_SUCCESS);
  while (!is_enough) {
    is_known = is_there("enough");
    CHECK(MPI_Allreduce(&is_known, &is_enough, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD) == MPI_SUCCESS);
    usleep(1000);
  }
  say("saved");
  CHECK(MPI_Finalize() == MPI_SUCCESS);
}

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  MPI_Init(&argc, &argv);
  folder = argv[1];
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
  for (int i = 0; i < 40; ++i) CHECK(meet(MPI_COMM_WORLD) == MPI_SUCCESS);
  for (int i = 0; i < 40; ++i) CHECK(MPI_Barrier(host) == MPI_SUCCESS);
  say("works");
  const int is_joined = strcmp(argv[3], "join") == 0;
  if (rank == 4 || (rank == 5 && !is_joined))
    live_alone(argv[rank - 2]);
  else
    go_on(rank == 5, !is_joined);
  return 0;
}
