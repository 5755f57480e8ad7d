/* Receive buffers whose parts are far apart: what the lost have not given stays as it was.
 *
 *   far_apart CALLS             of MPI_Allgatherv and, in place, of MPI_Alltoallv each
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ranks_max = 16, count = 3000, apart = 4 << 20 }; /* in numbers */

static int rank, ranks;
static int counts[ranks_max], places[ranks_max];
static int* received;

static void check(int is_right, const char* what) {
  if (is_right) return;
  fprintf(stderr, "WRONG: rank %d: %s\n", rank, what);
  fflush(stderr);
  _exit(1);
}

static int is_all(const int* data, int value) {
  for (int i = 0; i < count; ++i)
    if (data[i] != value) return 0;
  return 1;
}

static void fill(int* data, int value) {
  for (int i = 0; i < count; ++i) data[i] = value;
}

static int value_of(int from, int call) { return 1000 * call + from; }

/* How many of the others have given nothing. */
static int missing(int call, int before) {
  int none = 0;
  for (int r = 0; r < ranks; ++r) {
    const int* part = received + places[r];
    if (is_all(part, value_of(r, call))) continue;
    check(r != rank && is_all(part, before), "a part is neither whole nor untouched");
    ++none;
  }
  return none;
}

int main(int argc, char** argv) {
  static int sent[count];
  int lost = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  received = mmap(NULL, sizeof(int) * (size_t)apart * (size_t)ranks, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  check(argc == 2 && ranks <= ranks_max && received != MAP_FAILED, "arguments, or memory");
  for (int r = 0; r < ranks; ++r) {
    counts[r] = count;
    places[r] = r * apart;
  }
  for (int call = 1; call <= atoi(argv[1]); ++call) {
    for (int r = 0; r < ranks; ++r) fill(received + places[r], -1);
    fill(sent, value_of(rank, call));
    MPI_Allgatherv(sent, count, MPI_INT, received, counts, places, MPI_INT, MPI_COMM_WORLD);
    int none = missing(call, -1);
    check(none >= lost, "somebody came back");
    lost = none;
    /* What is given lies where what is taken will be. */
    for (int r = 0; r < ranks; ++r) fill(received + places[r], value_of(rank, call));
    MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_INT, received, counts, places, MPI_INT,
                  MPI_COMM_WORLD);
    none = missing(call, value_of(rank, call));
    check(none >= lost, "somebody came back");
    lost = none;
  }
  printf("rank %d is through, without %d\n", rank, lost);
  MPI_Finalize();
  return 0;
}
