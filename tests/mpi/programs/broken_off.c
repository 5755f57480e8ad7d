/* A call that a death breaks off, and the word of the other side that comes after it.
 *
 *   broken_off FOLDER send|isend|recv|irecv BYTES
 *
 * For 3 ranks, over TCP. Rank 0 sends something to rank 1, or receives it from there, and the other
 * side has not answered when the MPI library of rank 0 hears that rank 1 is dead. Then it does
 * answer: what it says to rank 0 is about a call that is over. Then it is killed, and ranks 0 and 2
 * exchange messages, which have to be right.
 */
#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { bytes_max = 1 << 20, exchanges = 50 };

struct Name {
  uint32_t job, rank; /* as Open MPI has it */
};

static const char *folder, *form;
static int rank, bytes;
static char mine[bytes_max], theirs[bytes_max];

static void path_of(const char* name, char* path) { snprintf(path, 512, "%s/%s", folder, name); }

static void note(const char* name) {
  char path[512];
  path_of(name, path);
  fclose(fopen(path, "w"));
}

static int is_noted(const char* name) {
  char path[512];
  path_of(name, path);
  return access(path, F_OK) == 0;
}

static void wait_for(const char* name) {
  while (!is_noted(name)) usleep(1000);
}

/* Progress without a message. */
static void look(void) {
  int flag;
  PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
}

/* As its runtime tells the library of a death. */
static void* say_that_1_is_dead(void* unused) {
  int (*name_job)(uint32_t*, const char*);
  void* (*process_of)(struct Name);
  int (*note_failure)(void*, int, int);
  *(void**)&name_job = dlsym(RTLD_DEFAULT, "opal_pmix_convert_nspace");
  *(void**)&process_of = dlsym(RTLD_DEFAULT, "ompi_proc_for_name");
  *(void**)&note_failure = dlsym(RTLD_DEFAULT, "ompi_errhandler_proc_failed_internal");
  struct Name name = {0, 1};
  name_job(&name.job, getenv("PMIX_NAMESPACE"));
  wait_for("seen");
  note_failure(process_of(name), -200, 0);
  return unused;
}

static void do_what_is_broken_off(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, say_that_1_is_dead, NULL);
  MPI_Request request;
  int code = MPI_SUCCESS;
  if (strcmp(form, "send") == 0) code = PMPI_Send(mine, bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
  if (strcmp(form, "recv") == 0)
    code = PMPI_Recv(theirs, bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (strcmp(form, "isend") == 0) PMPI_Isend(mine, bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &request);
  if (strcmp(form, "irecv") == 0)
    PMPI_Irecv(theirs, bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &request);
  if (form[0] == 'i') code = PMPI_Wait(&request, MPI_STATUS_IGNORE);
  pthread_join(thread, NULL);
  if (code == MPI_SUCCESS) printf("rank 0: it has ended well\n");
  note("broken");
  while (!is_noted("said")) look();
  for (int i = 0; i < 1000; ++i) look();
  note("heard");
}

static void answer_late(void) {
  MPI_Request request;
  const int receives = strcmp(form, "send") == 0 || strcmp(form, "isend") == 0;
  if (!receives) PMPI_Isend(mine, bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &request);
  for (int is_there = 0; receives && !is_there;)
    PMPI_Iprobe(0, 1, MPI_COMM_WORLD, &is_there, MPI_STATUS_IGNORE);
  if (!receives) usleep(300000); /* rank 0 asks for it meanwhile, and this one does not hear it */
  note("seen");
  wait_for("broken");
  if (receives) PMPI_Irecv(theirs, bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &request);
  for (int i = 0; i < 1000; ++i) look();
  note("said");
  wait_for("heard");
  kill(getpid(), SIGKILL);
}

static void exchange(int other) {
  for (int i = 0; i < exchanges; ++i) {
    memset(mine, i + rank, (size_t)bytes);
    if (rank == 0) MPI_Send(mine, bytes, MPI_BYTE, other, 2, MPI_COMM_WORLD);
    memset(theirs, -1, (size_t)bytes);
    MPI_Recv(theirs, bytes, MPI_BYTE, other, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 2) MPI_Send(mine, bytes, MPI_BYTE, other, 2, MPI_COMM_WORLD);
    for (int k = 0; k < bytes; ++k)
      if (theirs[k] != (char)(i + other)) {
        printf("rank %d: byte %d of message %d is %d\n", rank, k, i, theirs[k]);
        exit(1);
      }
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  folder = argv[1];
  form = argv[2];
  bytes = atoi(argv[3]);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  if (rank == 0) do_what_is_broken_off();
  if (rank == 1) answer_late();
  exchange(2 - rank);
  printf("rank %d is through\n", rank);
  MPI_Finalize();
  return 0;
}
