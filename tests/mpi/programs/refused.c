/* New communicators can be made of one that has lost a member. Calls that need a whole one work on
 * such a one, and are refused on one that is not: on all members alike, at once, with an error that
 * says why.
 *
 *   refused FILE      the last rank dies half way
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size, is_whole = 1;
static const char* file;

static void expect(const char* name, int code) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length;
  if (code != MPI_SUCCESS) MPI_Error_string(code, text, &length);
  if (is_whole ? code == MPI_SUCCESS : strstr(text, "PROC_FAILED") != NULL) return;
  fprintf(stderr, "WRONG: rank %d: %s gave %d (%s)\n", rank, name, code, text);
  fflush(stderr);
  _exit(1);
}

static MPI_Comm made[32], cart;
static int made_count;
#define MAKE(name, ...)                                   \
  do {                                                    \
    MPI_Comm* new_comm = &made[made_count];               \
    int code = MPI_##name(__VA_ARGS__, new_comm);         \
    if (code != MPI_SUCCESS) expect_success(#name, code); \
    if (*new_comm != MPI_COMM_NULL) ++made_count;         \
  } while (0)

static void expect_success(const char* name, int code) {
  const int was_whole = is_whole;
  is_whole = 1;
  expect(name, code);
  is_whole = was_whole;
}

static void make_communicators(void) {
  int dims[1] = {size}, periods[1] = {1}, remain[1] = {1}, next = (rank + 1) % size;
  int last = (rank + size - 1) % size, one = 1;
  int *index = malloc((size_t)size * sizeof *index), *edges = malloc((size_t)size * sizeof *edges);
  for (int i = 0; i < size; ++i) {
    index[i] = i + 1;
    edges[i] = (i + 1) % size;
  }
  MPI_Group group;
  MPI_Comm_group(MPI_COMM_WORLD, &group);
  MAKE(Comm_dup, MPI_COMM_WORLD);
  MAKE(Comm_dup_with_info, MPI_COMM_WORLD, MPI_INFO_NULL);
  MAKE(Comm_split, MPI_COMM_WORLD, rank % 2, rank);
  MAKE(Comm_split_type, MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL);
  MAKE(Comm_create, MPI_COMM_WORLD, group);
  MAKE(Cart_create, MPI_COMM_WORLD, 1, dims, periods, 0);
  if (is_whole) cart = made[made_count - 1];
  MAKE(Cart_sub, cart, remain);
  MAKE(Graph_create, MPI_COMM_WORLD, size, index, edges, 0);
  MAKE(Dist_graph_create, MPI_COMM_WORLD, 1, &rank, &one, &next, &one, MPI_INFO_NULL, 0);
  MAKE(Dist_graph_create_adjacent, MPI_COMM_WORLD, 1, &last, &one, 1, &next, &one, MPI_INFO_NULL,
       0);
  MPI_Group_free(&group);
  free(index);
  free(edges);
}

#define EXPECT_WIN(name, ...)                     \
  do {                                            \
    MPI_Win win;                                  \
    expect(#name, MPI_##name(__VA_ARGS__, &win)); \
    if (is_whole) MPI_Win_free(&win);             \
  } while (0)

#define MAKE_WIN(name, ...)                               \
  do {                                                    \
    MPI_Win win;                                          \
    expect_success(#name, MPI_##name(__VA_ARGS__, &win)); \
    MPI_Win_free(&win);                                   \
  } while (0)

static void make_windows(void) {
  int memory[4];
  void* base;
  MAKE_WIN(Win_create, memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD);
  MAKE_WIN(Win_allocate, 64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base);
  EXPECT_WIN(Win_allocate_shared, 64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base);
  MAKE_WIN(Win_create_dynamic, MPI_INFO_NULL, MPI_COMM_WORLD);
}

/* Each member opens it for itself, or the MPI library does for all, which it cannot after a loss.
 */
static void make_files(void) {
  MPI_File handle;
  MPI_Info hint;
  const int amode = MPI_MODE_CREATE | MPI_MODE_RDWR;
  const int code = MPI_File_open(MPI_COMM_WORLD, file, amode, MPI_INFO_NULL, &handle);
  expect_success("File_open", code);
  MPI_File_close(&handle);
  MPI_Info_create(&hint);
  MPI_Info_set(hint, "resprout_open", "together");
  expect("File_open", MPI_File_open(MPI_COMM_WORLD, file, amode, hint, &handle));
  if (is_whole) MPI_File_close(&handle);
  MPI_Info_set(hint, "resprout_open", "alone");
  expect_success("File_open", MPI_File_open(MPI_COMM_WORLD, file, amode, hint, &handle));
  MPI_File_close(&handle);
  MPI_Info_free(&hint);
}

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  file = argv[1];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  make_communicators();
  make_windows();
  make_files();
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == size - 1) kill(getpid(), SIGKILL);
  is_whole = 0;
  make_communicators();
  make_windows();
  make_files();
  /* What was made before goes on. */
  int mine = 1, all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, made[0]);
  if (rank == 0) printf("%d go on\n", all);
  for (int i = 0; i < made_count; ++i) MPI_Comm_free(&made[i]);
  MPI_Finalize();
  return 0;
}
