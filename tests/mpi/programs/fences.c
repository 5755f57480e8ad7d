/* One-sided access between fences, of all kinds, while ranks die.
 *
 *   fences STEPS KIND...
 *
 * KIND: created, allocated or dynamic windows, `columns`, which has gaps in its datatypes, or
 * `made`, windows that are made in each step. Everybody puts to its right neighbour, gets from its
 * left one, and adds to what all have. What the lost have to do with may be missing; everything
 * else is checked: "rank R is through" if all of it was right. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { words = 64, sums = 8, swapped = 16, fetched = 24, own_sum = 32 };

static int rank, size, wrong;
static char lost[64];

/* 1 for who is known to be lost, from a collective that lacks the part of such a rank. */
static void learn(void) {
  char there[64] = {0}, all[64] = {0};
  MPI_Barrier(MPI_COMM_WORLD);
  there[rank] = 1;
  MPI_Allreduce(there, all, size, MPI_CHAR, MPI_MAX, MPI_COMM_WORLD);
  for (int r = 0; r < size; ++r) lost[r] = !all[r];
}

static void check(int step, const char* what, long is, long wanted) {
  if (is == wanted) return;
  ++wrong;
  printf("rank %d, step %d: %s is %ld, not %ld\n", rank, step, what, is, wanted);
}

static long value(int of, int step) { return of * 100000L + step; }

static void step(MPI_Win win, long* memory, const MPI_Aint bases[], int number,
                 MPI_Datatype column) {
  const int left = (rank + size - 1) % size, right = (rank + 1) % size;
  long put[2] = {value(rank, number), -value(rank, number)};
  long got = -1, before = -1, old = -1, one = 1, mine = rank, nobody = -1;
  const long had = memory[0];
  MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
  memory[1] = value(rank, number);
  memset(memory + sums, 0, 2 * sizeof(long));
  memory[swapped] = -1;
  memory[fetched] = 7;
  memory[2] = memory[3] = memory[5] = 0;
  MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
#define AT(r, n) (bases ? bases[r] + (MPI_Aint)((n) * sizeof(long)) : (n))
  MPI_Put(put, 1, MPI_LONG, right, AT(right, 0), 1, MPI_LONG, win);
  if (column != MPI_DATATYPE_NULL) {
    MPI_Datatype gone;
    MPI_Type_dup(column, &gone);
    MPI_Put(put, 2, MPI_LONG, right, AT(right, 3), 1, gone, win);
    MPI_Type_free(&gone);
  }
  MPI_Get(&got, 1, MPI_LONG, left, AT(left, 1), 1, MPI_LONG, win);
  for (int r = 0; r < size; ++r) {
    MPI_Accumulate(&one, 1, MPI_LONG, r, AT(r, sums), 1, MPI_LONG, MPI_SUM, win);
    MPI_Accumulate(&mine, 1, MPI_LONG, r, AT(r, sums + 1), 1, MPI_LONG, MPI_MAX, win);
  }
  MPI_Fetch_and_op(&mine, &before, MPI_LONG, right, AT(right, fetched), MPI_SUM, win);
  MPI_Compare_and_swap(&mine, &nobody, &old, MPI_LONG, right, AT(right, swapped), win);
  MPI_Win_fence(0, win);
  learn();
  int living = 0, highest = 0;
  for (int r = 0; r < size; ++r)
    if (!lost[r]) ++living, highest = r;
  if (!lost[left]) {
    check(number, "what was put", memory[0], value(left, number));
    check(number, "what was got", got, value(left, number));
    check(number, "what was swapped", memory[swapped], left);
    check(number, "what was added", memory[fetched], 7 + left);
    if (column != MPI_DATATYPE_NULL) {
      check(number, "the first of a column", memory[3], value(left, number));
      check(number, "between those of a column", memory[4], 44);
      check(number, "the second of a column", memory[5], -value(left, number));
    }
  } else if (memory[0] != had && memory[0] != value(left, number)) {
    check(number, "what a lost one put", memory[0], value(left, number));
  }
  if (!lost[right]) {
    check(number, "what was there to fetch", before, 7);
    check(number, "what was there to swap", old, -1);
  }
  /* Who is lost since may have added. */
  if (memory[sums] < living || memory[sums] > size) check(number, "sum", memory[sums], living);
  if (memory[sums + 1] < highest) check(number, "most", memory[sums + 1], highest);
  /* What a rank adds to its own is there for those who look in the next epoch. */
  long most = number + 1, seen = -1;
  MPI_Win_fence(0, win);
  MPI_Accumulate(&most, 1, MPI_LONG, rank, AT(rank, own_sum), 1, MPI_LONG, MPI_REPLACE, win);
  MPI_Win_fence(0, win);
  MPI_Get(&seen, 1, MPI_LONG, right, AT(right, own_sum), 1, MPI_LONG, win);
  MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
  if (seen != -1) check(number, "what it added to its own", seen, most);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int steps = atoi(argv[1]);
  MPI_Datatype column;
  MPI_Type_vector(2, 1, 2, MPI_LONG, &column);
  MPI_Type_commit(&column);
  for (int k = 2; k < argc; ++k) {
    const char* kind = argv[k];
    const int is_dynamic = !strcmp(kind, "dynamic"), is_made = !strcmp(kind, "made");
    MPI_Datatype with = !strcmp(kind, "columns") ? column : MPI_DATATYPE_NULL;
    MPI_Win win = MPI_WIN_NULL;
    long own[words], *memory = own;
    MPI_Aint bases[64] = {0}, base;
    for (int s = 0; s < steps; ++s) {
      if (win == MPI_WIN_NULL) {
        if (is_dynamic) {
          MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
          MPI_Win_attach(win, own, sizeof own);
          MPI_Get_address(own, &base);
          MPI_Allgather(&base, 1, MPI_AINT, bases, 1, MPI_AINT, MPI_COMM_WORLD);
        } else if (!strcmp(kind, "allocated") || (is_made && s % 2)) {
          MPI_Win_allocate(words * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD,
                           &memory, &win);
        } else {
          MPI_Win_create(own, sizeof own, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
          memory = own;
        }
        /* It knows who is lost, and what it has not got from them. */
        MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
        memset(memory, 0, words * sizeof(long));
        memory[4] = 44;
        MPI_Group all;
        int members = 0;
        MPI_Win_get_group(win, &all);
        MPI_Group_size(all, &members);
        MPI_Group_free(&all);
        check(s, "members", members, size);
      }
      step(win, memory, is_dynamic ? bases : NULL, s, with);
      if (is_made || s == steps - 1) {
        if (is_dynamic) MPI_Win_detach(win, own);
        MPI_Win_free(&win);
      }
    }
  }
  MPI_Type_free(&column);
  if (wrong == 0) printf("rank %d is through\n", rank);
  MPI_Finalize();
  return wrong != 0;
}
