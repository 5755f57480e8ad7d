/* A file that all ranks write together through MPI: `plane_files FILE write|add|renew [PLANE]`.
 *
 * write: is made, and written in rounds with a barrier after each. add: is read, closed, opened
 * again, and each number in it is one more then. renew: is deleted, and made anew with
 * MPI_MODE_EXCL; another one, FILE.gone, is deleted when it is closed. Reads at the end what is in
 * it, and says what is wrong. PLANE begins a second after the others.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { rounds = 20, block = 1000 };

static int rank, size, numbers[block];

static void expect(int is_right, const char* what, int at) {
  if (!is_right) printf("rank %d, at %d: not so: %s\n", rank, at, what);
}

static int number(int round, int i) { return (round * size + rank) * block + i; }

static MPI_Offset place(int round) {
  return (MPI_Offset)(round * size + rank) * (MPI_Offset)sizeof numbers;
}

static MPI_File opened(const char* name, int mode) {
  MPI_File file = MPI_FILE_NULL;
  const int code = MPI_File_open(MPI_COMM_WORLD, name, mode, MPI_INFO_NULL, &file);
  expect(code == MPI_SUCCESS, "it opens", mode);
  if (code != MPI_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 1);
  return file;
}

/* The numbers are `more` than those of `write`. */
static void write_all(MPI_File file, int more) {
  for (int round = 0; round < rounds; ++round) {
    for (int i = 0; i < block; ++i) numbers[i] = number(round, i) + more;
    MPI_File_write_at_all(file, place(round), numbers, block, MPI_INT, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

static void check_all(const char* name, int more) {
  MPI_File file = opened(name, MPI_MODE_RDONLY);
  MPI_Offset bytes = 0;
  MPI_File_get_size(file, &bytes);
  expect(bytes == (MPI_Offset)rounds * size * (MPI_Offset)sizeof numbers, "its size", (int)bytes);
  for (int round = 0; round < rounds; ++round) {
    MPI_File_read_at(file, place(round), numbers, block, MPI_INT, MPI_STATUS_IGNORE);
    for (int i = 0; i < block; i += block - 1)
      expect(numbers[i] == number(round, i) + more, "a number", round);
  }
  MPI_File_close(&file);
}

static void renew(const char* name) {
  char gone[4096];
  MPI_File file;
  if (rank == 0) expect(MPI_File_delete(name, MPI_INFO_NULL) == MPI_SUCCESS, "it goes", 0);
  MPI_Barrier(MPI_COMM_WORLD);
  expect(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDONLY, MPI_INFO_NULL, &file) != MPI_SUCCESS,
         "it is gone", 0);
  MPI_Barrier(MPI_COMM_WORLD);
  file = opened(name, MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_WRONLY);
  write_all(file, 0);
  MPI_File_close(&file);
  snprintf(gone, sizeof gone, "%s.gone", name);
  file = opened(gone, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
  write_all(file, 0);
  MPI_File_close(&file);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const char *name = argv[1], *plane = getenv("RESPROUT_REPLICA");
  const int is_add = strcmp(argv[2], "add") == 0;
  if (argc > 3 && plane != NULL && strcmp(plane, argv[3]) == 0) sleep(1);
  if (strcmp(argv[2], "renew") == 0) {
    renew(name);
  } else {
    if (is_add) check_all(name, 0);
    MPI_File file = opened(name, MPI_MODE_CREATE | MPI_MODE_WRONLY);
    write_all(file, is_add);
    MPI_File_close(&file);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  check_all(name, is_add);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
