/* Files that all ranks write in many ways and read back: `stand_in_files FILE SEED STEPS`.
 *
 * In each step every rank writes a part of FILE that the seed gives it, as it may have given it to
 * others before, and after a sync all read all of it. FILE.turns gets what ranks write one behind
 * the other. Every rank knows what has to be there, and says what is not. Every few steps files are
 * closed, read by others than have them open, and opened again.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { blocks = 6, each = 60, ranks_max = 16, turns_max = 20000, forms = 8 };

static int rank, size, wrong;
static unsigned long state;
static int expected[blocks * each * ranks_max], found[blocks * each * ranks_max];
static int turns[turns_max], found_turns[turns_max], turns_count;

static unsigned below(unsigned bound) {
  state = state * 6364136223846793005ul + 1442695040888963407ul;
  return (unsigned)(state >> 33) % bound;
}

static void expect(int is_right, const char* what, int at) {
  if (!is_right && wrong++ < 5) printf("rank %d, %d: wrong %s\n", rank, at, what);
}

static MPI_File opened(MPI_Comm comm, const char* name, int mode) {
  MPI_File file = MPI_FILE_NULL;
  const int code = MPI_File_open(comm, name, mode, MPI_INFO_NULL, &file);
  expect(code == MPI_SUCCESS, "opening", mode);
  if (code != MPI_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 1);
  return file;
}

static int value(int step, int writer, int i) { return step * 1000000 + writer * 10000 + i + 1; }

/* Of block `block` every so-manieth number, from the `slot`-th on; or as many in a row. */
static int place(int block, int slot, int i, int is_strided) {
  return block * each * size + (is_strided ? i * size + slot : slot * each + i);
}

static void see_all(MPI_File file) {
  MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
}

static void see_strided(MPI_File file, int block, int slot) {
  MPI_Datatype one, type;
  MPI_Type_vector(each, 1, size, MPI_INT, &one);
  MPI_Type_create_resized(one, 0, (MPI_Aint)sizeof(int) * each * size, &type);
  MPI_Type_commit(&type);
  MPI_File_set_view(file, (MPI_Offset)sizeof(int) * place(block, slot, 0, 1), MPI_INT, type,
                    "native", MPI_INFO_NULL);
  MPI_Type_free(&one);
  MPI_Type_free(&type);
}

static void see_rows(MPI_File file, int block, int slot) {
  const int sizes[] = {blocks * size, each}, rows[] = {1, each},
            starts[] = {block * size + slot, 0};
  MPI_Datatype type;
  MPI_Type_create_subarray(2, sizes, rows, starts, MPI_ORDER_C, MPI_INT, &type);
  MPI_Type_commit(&type);
  MPI_File_set_view(file, 0, MPI_INT, type, "native", MPI_INFO_NULL);
  MPI_Type_free(&type);
}

/* `form`: the same at all ranks. */
static int is_strided(int form) { return form == 3 || form == 4 || form == 5; }

static void write_part(MPI_File file, int step, int form, int block, int slot) {
  int mine[each];
  const MPI_Offset at = place(block, slot, 0, 0);
  MPI_Request request;
  MPI_Status status;
  for (int i = 0; i < each; ++i) mine[i] = value(step, rank, i);
  if (is_strided(form)) see_strided(file, block, slot);
  switch (form) {
    case 0:
      MPI_File_write_at(file, at, mine, each, MPI_INT, &status);
      break;
    case 1:
      MPI_File_write_at_all(file, at, mine, each, MPI_INT, &status);
      break;
    case 2:
      MPI_File_iwrite_at(file, at, mine, each, MPI_INT, &request);
      MPI_Wait(&request, &status);
      break;
    case 3:
      MPI_File_write_all(file, mine, each, MPI_INT, &status);
      break;
    case 4:
      MPI_File_write(file, mine, each / 2, MPI_INT, &status);
      MPI_File_iwrite(file, mine + each / 2, each / 2, MPI_INT, &request);
      MPI_Wait(&request, &status);
      break;
    case 5:
      MPI_File_write_at_all_begin(file, 0, mine, each, MPI_INT);
      MPI_File_write_at_all_end(file, mine, &status);
      break;
    case 6:
      see_rows(file, block, slot);
      MPI_File_write_all_begin(file, mine, each, MPI_INT);
      MPI_File_write_all_end(file, mine, &status);
      break;
    default:
      MPI_File_seek(file, at, MPI_SEEK_SET);
      MPI_File_iwrite_all(file, mine, each, MPI_INT, &request);
      MPI_Wait(&request, &status);
      break;
  }
  see_all(file);
}

static void note_parts(int step, int form, int block, int shift) {
  for (int writer = 0; writer < size; ++writer)
    for (int i = 0; i < each; ++i)
      expected[place(block, (writer + shift) % size, i, is_strided(form))] = value(step, writer, i);
}

static void check_all(MPI_File file, int step, int is_collective) {
  const int count = blocks * each * size;
  memset(found, 0, sizeof found);
  if (is_collective)
    MPI_File_read_at_all(file, 0, found, count, MPI_INT, MPI_STATUS_IGNORE);
  else
    MPI_File_read_at(file, 0, found, count, MPI_INT, MPI_STATUS_IGNORE);
  for (int i = 0; i < count; ++i)
    if (found[i] != expected[i]) {
      expect(0, "number", step);
      return;
    }
}

static void take_turns(MPI_File file, int step) {
  int mine[ranks_max];
  for (int writer = 0; writer < size; ++writer)
    for (int i = 0; i < 1 + (writer + step) % 5; ++i) {
      if (writer == rank) mine[i] = value(step, writer, i);
      turns[turns_count++] = value(step, writer, i);
    }
  if (step % 2 == 0) {
    MPI_File_write_ordered(file, mine, 1 + (rank + step) % 5, MPI_INT, MPI_STATUS_IGNORE);
  } else {
    MPI_File_write_ordered_begin(file, mine, 1 + (rank + step) % 5, MPI_INT);
    MPI_File_write_ordered_end(file, mine, MPI_STATUS_IGNORE);
  }
}

static void check_turns(MPI_File file, int step) {
  MPI_File_read_at(file, 0, found_turns, turns_count, MPI_INT, MPI_STATUS_IGNORE);
  expect(memcmp(turns, found_turns, sizeof(int) * (size_t)turns_count) == 0, "turns", step);
}

static void sync(MPI_File file) {
  MPI_File_sync(file);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_sync(file);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const char* name = argv[1];
  const int steps = atoi(argv[3]), mode = MPI_MODE_CREATE | MPI_MODE_RDWR;
  char other[4096];
  snprintf(other, sizeof other, "%s.turns", name);
  state = strtoul(argv[2], NULL, 10);
  MPI_File file = opened(MPI_COMM_WORLD, name, mode),
           in_turns = opened(MPI_COMM_WORLD, other, mode);
  see_all(file);
  MPI_File_set_size(file, (MPI_Offset)sizeof(int) * blocks * each * size);
  see_all(in_turns);
  for (int step = 0; step < steps; ++step) {
    const int form = (int)below(forms), block = (int)below(blocks),
              shift = (int)below((unsigned)size);
    const int is_last_of_file = below(6) == 0, is_collective = (int)below(2);
    write_part(file, step, form, block, (rank + shift) % size);
    note_parts(step, form, block, shift);
    take_turns(in_turns, step);
    if (is_last_of_file) {
      MPI_File_close(&file);
      file = opened(MPI_COMM_WORLD, name, mode);
      see_all(file);
    } else {
      sync(file);
    }
    sync(in_turns);
    check_all(file, step, is_collective);
    check_turns(in_turns, step);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_File_close(&file);
  MPI_File_close(&in_turns);
  file = opened(MPI_COMM_SELF, name, MPI_MODE_RDONLY);
  see_all(file);
  check_all(file, steps, 0);
  MPI_File_close(&file);
  printf("rank %d is done\n", rank);
  MPI_Finalize();
  return wrong != 0;
}
