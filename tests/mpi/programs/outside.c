/* Calls of MPI outside of MPI_Init and MPI_Finalize.
 *
 *   outside wrong WHEN NAME...   each function is called by a process of its own, with zeros for
 *                                arguments, `before` MPI_Init or `after` MPI_Finalize; how it ended
 *                                is a line
 *   outside allowed at-all       what may be called before and after is, and says what it gave
 *   outside sessions alone       a session's communicator is used in many ways
 *   outside sessions beside      before MPI_Init, beside it and after MPI_Finalize
 */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef long (*Function)(long, long, long, long, long, long, long, long, long, long, long, long);

/* What the process says on stderr goes to `said`, with its digits as one mark. */
static int call_in_child(Function function, char* said, size_t bytes) {
  int ends[2], status = 0;
  if (pipe(ends) != 0) return -1;
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], 2);
    dup2(ends[1], 1);
    close(ends[0]);
    close(ends[1]);
    alarm(20);
    _exit(100 + (int)(function(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0) & 63));
  }
  close(ends[1]);
  size_t length = 0;
  for (char c; read(ends[0], &c, 1) == 1;) {
    const int is_digit = c >= '0' && c <= '9';
    if (is_digit && length > 0 && said[length - 1] == '#') continue;
    if (length + 1 < bytes) said[length++] = is_digit ? '#' : c == '\n' ? '/' : c;
  }
  said[length] = '\0';
  close(ends[0]);
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

static void call_each(int count, char** names) {
  static char said[1 << 16];
  for (int i = 0; i < count; ++i) {
    Function function = NULL;
    *(void**)&function = dlsym(RTLD_DEFAULT, names[i]);
    if (function == NULL) continue;
    const int status = call_in_child(function, said, sizeof said);
    printf("%s: %d %s\n", names[i], status, said);
  }
}

static void note_error(MPI_Session* session, int* code, ...) {
  (void)session;
  printf("handler: %d\n", *code);
}

/* Each of these may be called at any time. The session stays open: that the last one ends before
 * MPI_Init makes Open MPI 5.0 crash there. */
static void do_what_is_allowed(const char* when, MPI_Session session) {
  int flag = -1, is_over = -1, version = 0, subversion = 0, length = 0, class = -1;
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = "", value[32] = "";
  MPI_Initialized(&flag);
  MPI_Finalized(&is_over);
  printf("%s: initialized %d, finalized %d", when, flag, is_over);
  MPI_Get_version(&version, &subversion);
  MPI_Get_library_version(text, &length);
  printf(", version %d.%d, library %d", version, subversion, length > 0);

  MPI_Info info, copy;
  MPI_Info_create(&info);
  MPI_Info_set(info, "key", "value");
  MPI_Info_dup(info, &copy);
  MPI_Info_get(copy, "key", sizeof value - 1, value, &flag);
  MPI_Info_free(&info);
  MPI_Info_free(&copy);
  printf(", info %s\n", value);

  MPI_Errhandler handler, same;
  MPI_Session_create_errhandler(note_error, &handler);
  MPI_Session_set_errhandler(session, handler);
  MPI_Session_get_errhandler(session, &same);
  MPI_Session_call_errhandler(session, MPI_ERR_ARG);
  printf("its handler %d\n", same == handler);
  MPI_Errhandler_free(&same);
  MPI_Errhandler_free(&handler);
  MPI_Session_get_num_psets(session, MPI_INFO_NULL, &length);
  MPI_Error_class(MPI_ERR_ARG, &class);
  MPI_Error_string(MPI_ERR_ARG, text, &flag);
  printf("psets %d, class %d, %s\n", length > 0, class == MPI_ERR_ARG, text);
}

/* What a library does with a session of its own, whoever else uses MPI. */
static void use(const char* when, MPI_Session session) {
  MPI_Group group;
  MPI_Comm comm, copy, half, ring;
  MPI_Errhandler handler;
  int rank, size, one = 1, all = 0, got = -1, periodic = 1, key, is_set = 0, *value = NULL;
  MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
  MPI_Comm_create_from_group(group, when, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL);
  MPI_Comm_set_attr(comm, key, &one);
  MPI_Comm_get_attr(comm, key, &value, &is_set);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Comm_get_errhandler(comm, &handler);
  MPI_Errhandler_free(&handler);
  const int wrong = MPI_Send(&one, 1, MPI_INT, size, 0, comm);
  MPI_Comm_dup(comm, &copy);
  MPI_Comm_split(copy, rank % 2, rank, &half);
  MPI_Cart_create(comm, 1, &size, &periodic, 0, &ring);
  MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, half);
  MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_SUM, copy);

  MPI_Request requests[3];
  MPI_Status status;
  int left, right, sum = 0;
  MPI_Cart_shift(ring, 0, 1, &left, &right);
  MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 1, ring, &requests[0]);
  MPI_Isend(&rank, 1, MPI_INT, right, 1, ring, &requests[1]);
  MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, ring, &requests[2]);
  MPI_Wait(&requests[2], MPI_STATUS_IGNORE);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  MPI_Send_init(&rank, 1, MPI_INT, left, 2, ring, &requests[0]);
  MPI_Start(&requests[0]);
  MPI_Probe(right, 2, ring, &status);
  MPI_Recv(&got, 1, MPI_INT, right, 2, ring, &status);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  MPI_Request_free(&requests[0]);

  MPI_Win window;
  int* shared = NULL;
  MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, comm, &shared, &window);
  *shared = -1;
  MPI_Win_fence(0, window);
  MPI_Put(&rank, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, window);
  MPI_Win_fence(0, window);
  const int put = *shared;
  MPI_Win_free(&window);
  MPI_Comm_delete_attr(comm, key);
  MPI_Comm_free_keyval(&key);
  MPI_Comm_free(&ring);
  MPI_Comm_free(&half);
  MPI_Comm_disconnect(&copy);
  MPI_Comm_free(&comm);
  MPI_Group_free(&group);
  printf("%s rank %d: wrong %d, sums %d %d, got %d, put %d, attribute %d\n", when, rank,
         wrong != MPI_SUCCESS, all, sum, got, put, is_set && value == &one);
  fflush(stdout);
}

static void use_sessions(int is_alone) {
  MPI_Session session;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
  use("before", session);
  if (!is_alone) {
    MPI_Init(NULL, NULL);
    use("beside", session);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    use("after", session);
  }
  MPI_Session_finalize(&session);
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const int is_before = strcmp(argv[2], "before") == 0;
  if (strcmp(argv[1], "sessions") == 0) {
    use_sessions(strcmp(argv[2], "alone") == 0);
    return 0;
  }
  if (strcmp(argv[1], "allowed") == 0) {
    MPI_Session session;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    do_what_is_allowed("before", session);
    MPI_Init(&argc, &argv);
    do_what_is_allowed("inside", session);
    MPI_Finalize();
    do_what_is_allowed("after", session);
    MPI_Session_finalize(&session);
    return 0;
  }
  if (is_before) call_each(argc - 3, argv + 3);
  MPI_Init(&argc, &argv);
  MPI_Finalize();
  if (!is_before) call_each(argc - 3, argv + 3);
  return 0;
}
