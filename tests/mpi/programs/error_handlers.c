/* Whose error handler sees what. For 3 ranks; rank 1 kills itself where a case needs a loss.
 *
 *   error_handlers own|tell|fatal|fatal-window|fatal-file FILE|fatal-loss
 *
 * own          handlers that the program sets are its own, and see its own mistakes
 * tell         for RESPROUT_ON_LOSS=error: the program's handler hears of the loss
 * fatal        a mistake under the default handler still ends the job
 * fatal-window, fatal-file
 *              so does one on a window under its default handler, and on a file under a fatal one
 * fatal-loss   for RESPROUT_ON_LOSS=error: so does a loss
 */
#include <mpi.h>
#include <signal.h>
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

static int rank, heard, heard_class;
static const char* path;
static MPI_Comm heard_on;

static void hear(MPI_Comm* comm, int* code, ...) {
  ++heard;
  heard_on = *comm;
  MPI_Error_class(*code, &heard_class);
}

static int class_of(int code) {
  int class;
  MPI_Error_class(code, &class);
  return class;
}

static int mistake(MPI_Comm comm) { return MPI_Send(NULL, 0, MPI_INT, 1000, 0, comm); }

/* An operator that there is not for a datatype, in whatever reduces: each is heard of once, on the
 * communicator that it is about. */
static void check_operators(MPI_Comm comm) {
  int from[6] = {0}, to[6], counts[] = {1, 1, 1};
  float single[2] = {0};
  MPI_Request request;
  heard = 0;
  CHECK(class_of(MPI_Allreduce(from, to, 1, MPI_2INT, MPI_SUM, comm)) == MPI_ERR_OP);
  CHECK(heard == 1 && heard_on == comm && heard_class == MPI_ERR_OP);
  CHECK(class_of(MPI_Reduce(from, to, 1, MPI_INT, MPI_MAXLOC, 0, comm)) == MPI_ERR_OP);
  CHECK(class_of(MPI_Scan(single, single + 1, 1, MPI_FLOAT, MPI_BOR, comm)) == MPI_ERR_OP);
  CHECK(class_of(MPI_Exscan(from, to, 1, MPI_2INT, MPI_PROD, comm)) == MPI_ERR_OP);
  CHECK(class_of(MPI_Reduce_scatter(from, to, counts, MPI_2INT, MPI_MAX, comm)) == MPI_ERR_OP);
  CHECK(class_of(MPI_Reduce_scatter_block(from, to, 1, MPI_2INT, MPI_MAX, comm)) == MPI_ERR_OP);
  CHECK(heard == 6);
  CHECK(class_of(MPI_Iallreduce(single, single + 1, 1, MPI_FLOAT, MPI_BOR, comm, &request)) ==
        MPI_ERR_OP);
  CHECK(heard == 7 && heard_on == comm);
}

static int is_failed(int code) {
  char text[MPI_MAX_ERROR_STRING];
  int length;
  MPI_Error_string(code, text, &length);
  return code != MPI_SUCCESS && strstr(text, "PROC_FAILED");
}

/* The communicators that MPI has made itself are not freed, and go on after the attempt. */
static void check_that_it_stays(MPI_Comm comm) {
  MPI_Comm handle = comm;
  int sum = 0, one = 1, size;
  MPI_Comm_size(comm, &size);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  CHECK(class_of(MPI_Comm_free(&handle)) == MPI_ERR_COMM);
  CHECK(class_of(MPI_Comm_disconnect(&handle)) == MPI_ERR_COMM);
  CHECK(handle == comm);
  CHECK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm) == MPI_SUCCESS && sum == size);
  CHECK(MPI_Barrier(comm) == MPI_SUCCESS);
}

static MPI_Win make_window(int* memory) {
  MPI_Win window;
  MPI_Win_create(memory, sizeof *memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  return window;
}

/* Of windows, and of files that are opened later. */
static void check_others(void) {
  MPI_Errhandler got;
  int memory = 0;
  MPI_Win window = make_window(&memory);
  MPI_Win_get_errhandler(window, &got);
  CHECK(got == MPI_ERRORS_ARE_FATAL);
  CHECK(MPI_Errhandler_free(&got) == MPI_SUCCESS);
  MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
  MPI_Win_get_errhandler(window, &got);
  CHECK(got == MPI_ERRORS_RETURN);
  MPI_Errhandler_free(&got);
  MPI_Win_fence(0, window);
  CHECK(class_of(MPI_Put(&memory, 1, MPI_INT, 1000, 0, 1, MPI_INT, window)) == MPI_ERR_RANK);
  MPI_Win_set_errhandler(window, MPI_ERRORS_ARE_FATAL);
  MPI_Win_get_errhandler(window, &got);
  CHECK(got == MPI_ERRORS_ARE_FATAL);
  MPI_Errhandler_free(&got);
  MPI_Win_set_errhandler(window, MPI_ERRORS_ABORT);
  MPI_Win_get_errhandler(window, &got);
  CHECK(got == MPI_ERRORS_ABORT);
  MPI_Errhandler_free(&got);
  MPI_Win_fence(0, window);
  MPI_Win_free(&window);
  MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_ABORT);
  MPI_File_get_errhandler(MPI_FILE_NULL, &got);
  CHECK(got == MPI_ERRORS_ABORT);
  MPI_Errhandler_free(&got);
  MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_ARE_FATAL);
  MPI_File_get_errhandler(MPI_FILE_NULL, &got);
  CHECK(got == MPI_ERRORS_ARE_FATAL);
  MPI_Errhandler_free(&got);
  MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
  MPI_File_get_errhandler(MPI_FILE_NULL, &got);
  CHECK(got == MPI_ERRORS_RETURN);
  MPI_Errhandler_free(&got);
}

static void own(void) {
  MPI_Errhandler got, mine;
  MPI_Comm dup, split;
  CHECK(MPI_Comm_get_errhandler(MPI_COMM_WORLD, &got) == MPI_SUCCESS);
  CHECK(got == MPI_ERRORS_ARE_FATAL);
  CHECK(MPI_Errhandler_free(&got) == MPI_SUCCESS);

  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_get_errhandler(MPI_COMM_WORLD, &got);
  CHECK(got == MPI_ERRORS_RETURN);
  MPI_Errhandler_free(&got);
  CHECK(class_of(mistake(MPI_COMM_WORLD)) == MPI_ERR_RANK);
  check_that_it_stays(MPI_COMM_WORLD);
  check_that_it_stays(MPI_COMM_SELF);
  check_others();

  /* Inherited, however the communicator is made; still there after the program let go of it. */
  MPI_Comm_create_errhandler(hear, &mine);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, mine);
  MPI_Comm_dup(MPI_COMM_WORLD, &dup);
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &split);
  MPI_Comm_get_errhandler(split, &got);
  CHECK(got == mine);
  MPI_Errhandler_free(&got);
  MPI_Errhandler_free(&mine);
  CHECK(class_of(mistake(dup)) == MPI_ERR_RANK);
  CHECK(heard == 1 && heard_on == dup && heard_class == MPI_ERR_RANK);
  CHECK(class_of(mistake(split)) == MPI_ERR_RANK);
  CHECK(heard == 2 && heard_on == split);
  MPI_Comm_set_errhandler(dup, MPI_ERRORS_RETURN);
  CHECK(class_of(mistake(dup)) == MPI_ERR_RANK);
  CHECK(heard == 2);
  check_operators(split);
  heard = 2;
  CHECK(MPI_Comm_call_errhandler(split, MPI_ERR_TAG) == MPI_SUCCESS);
  CHECK(heard == 3 && heard_class == MPI_ERR_TAG);
  MPI_Comm_free(&dup);
  MPI_Comm_free(&split);
}

static void lose_rank_1(void) {
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1) {
    usleep(300000);
    kill(getpid(), SIGKILL);
    pause();
  }
}

/* Errors are returned, and then told, and then returned again. */
static void change_handler(MPI_Comm comm, MPI_Errhandler mine) {
  const int before = heard;
  CHECK(is_failed(MPI_Barrier(comm)) && is_failed(MPI_Barrier(comm)));
  CHECK(heard == before);
  MPI_Comm_set_errhandler(comm, mine);
  CHECK(is_failed(MPI_Barrier(comm)));
  CHECK(heard == before + 1 && heard_on == comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  CHECK(is_failed(MPI_Barrier(comm)));
  CHECK(heard == before + 1);
}

static void tell(void) {
  MPI_Errhandler mine;
  MPI_Request request;
  MPI_Comm dup, inherits;
  int value;
  MPI_Comm_create_errhandler(hear, &mine);
  MPI_Comm_dup(MPI_COMM_WORLD, &dup);
  MPI_Comm_set_errhandler(dup, MPI_ERRORS_RETURN);
  MPI_Comm_dup(dup, &inherits);
  MPI_Comm_set_errhandler(dup, mine);
  lose_rank_1();
  CHECK(is_failed(MPI_Recv(&value, 1, MPI_INT, 1, 0, dup, MPI_STATUS_IGNORE)));
  CHECK(heard == 1 && heard_on == dup);
  CHECK(is_failed(MPI_Send(&value, 1, MPI_INT, 1, 0, dup)));
  CHECK(heard == 2);
  MPI_Irecv(&value, 1, MPI_INT, 1, 0, dup, &request);
  CHECK(is_failed(MPI_Wait(&request, MPI_STATUS_IGNORE)));
  CHECK(heard == 3 && heard_on == dup);
  CHECK(is_failed(MPI_Barrier(dup)));
  CHECK(heard == 4);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  CHECK(is_failed(MPI_Recv(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE)));
  CHECK(heard == 4);
  change_handler(MPI_COMM_WORLD, mine);
  change_handler(inherits, mine);
}

static void fatal(void) {
  if (rank == 2) mistake(MPI_COMM_WORLD);
  for (;;) pause();
}

static void fatal_window(void) {
  int memory = 0;
  MPI_Win window = make_window(&memory);
  MPI_Win_fence(0, window);
  if (rank == 2) MPI_Put(&memory, 1, MPI_INT, 1000, 0, 1, MPI_INT, window);
  for (;;) pause();
}

static void fatal_file(void) {
  int value;
  MPI_File file;
  MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
  MPI_File_set_errhandler(file, MPI_ERRORS_ARE_FATAL);
  if (rank == 2) MPI_File_read_at(file, 0, &value, 1, MPI_INT, MPI_STATUS_IGNORE);
  for (;;) pause();
}

static void fatal_loss(void) {
  int value;
  lose_rank_1();
  MPI_Recv(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  CHECK(!"the job has ended");
}

int main(int argc, char** argv) {
  static const struct {
    const char* name;
    void (*run)(void);
  } cases[] = {
      {"own", own},
      {"tell", tell},
      {"fatal", fatal},
      {"fatal-window", fatal_window},
      {"fatal-file", fatal_file},
      {"fatal-loss", fatal_loss},
  };
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (argc > 2) path = argv[2];
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i)
    if (argc > 1 && strcmp(argv[1], cases[i].name) == 0) cases[i].run();
  MPI_Finalize();
  printf("rank %d is through\n", rank);
  return 0;
}
