// Starts itself with words that end in blanks, in both ways that MPI has. Says nothing if all is
// right.
#include "fortran.h"

enum { width = 512 };

static void put(char* words, int place, const char* word) {
  memset(words + place * width, ' ', width);
  memcpy(words + place * width, word, strlen(word));
}

// The started ones say which words they were given: 1 for "one", 10 for "two words".
// Nobody preloads anything into them.
static int child(int argc, char** argv) {
  MPI_Comm parent;
  MPI_Init(&argc, &argv);
  MPI_Comm_get_parent(&parent);
  integer said = 0;
  for (int i = 1; i < argc; ++i) said += strcmp(argv[i], "one") == 0 ? 1 : 0;
  for (int i = 1; i < argc; ++i) said += strcmp(argv[i], "two words") == 0 ? 10 : 0;
  if (argc > 3) said = -1;
  MPI_Send(&said, 1, MPI_INT, 0, 0, parent);
  MPI_Comm_disconnect(&parent);
  MPI_Finalize();
  return 0;
}

static void expect_of(integer* children, integer process, integer expected) {
  integer said = -1, status[status_integers];
  call(mpi_recv_, &said, at(1), at(MPI_Type_c2f(MPI_INT)), &process, at(0), children, status);
  expect(said == expected);
}

int main(int argc, char** argv) {
  if (argc > 1) return child(argc, argv);
  mpi_init_(&ierror);
  static char commands[2 * width], words[2 * 3 * width];
  integer codes[2] = {-1, -1}, children;
  const integer self = MPI_Comm_c2f(MPI_COMM_SELF);

  put(commands, 0, argv[0]);
  put(words, 0, "one");
  put(words, 1, "two words");
  put(words, 2, "");
  mpi_comm_spawn_(commands, words, at(1), at(0), at(0), &self, &children, codes, &ierror,
                  (size_t)width, (size_t)width);
  expect(ierror == MPI_SUCCESS && codes[0] == MPI_SUCCESS);
  expect_of(&children, 0, 11);
  call(mpi_comm_disconnect_, &children);

  // Of two commands the words lie in turns: the first word of each, the second of each.
  put(commands, 1, argv[0]);
  put(words, 0, "one");
  put(words, 1, "two words");
  for (int i = 2; i < 6; ++i) put(words, i, "");
  mpi_comm_spawn_multiple_(at(2), commands, words, (integer[]){1, 1}, (integer[]){0, 0}, at(0),
                           &self, &children, &mpi_fortran_errcodes_ignore_, &ierror, (size_t)width,
                           (size_t)width);
  expect(ierror == MPI_SUCCESS);
  expect_of(&children, 0, 1);
  expect_of(&children, 1, 10);
  call(mpi_comm_disconnect_, &children);
  mpi_finalize_(&ierror);
  return 0;
}
