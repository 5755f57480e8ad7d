/* Heat in a rod, as a stencil that keeps checkpoints in files of its own.
 *
 *   stencil FOLDER [STEPS [EVERY [MICROSECONDS]]]
 *
 * Each process has its part of the rod, and every EVERY steps writes it into FOLDER. It begins from
 * the newest step of which all processes have a checkpoint there, or from the beginning: so it is
 * started again by the same command. MICROSECONDS: how long a step takes at least. The last line is
 * the same to the last bit, however often it was started again.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { cells = 1000 };

/* The process's own cells stand between those of its neighbors. */
static double field[cells + 2], next[cells + 2];
static int rank, ranks;

static void name_file(char* name, const char* folder, long step) {
  /* Two files in turns: a process may be killed while it writes one. */
  snprintf(name, 4096, "%s/part-%d-%ld", folder, rank, step);
}

static void write_checkpoint(const char* folder, long step, long every) {
  char name[4096], draft[4096 + 8];
  name_file(name, folder, step);
  snprintf(draft, sizeof draft, "%s.draft", name);
  FILE* file = fopen(draft, "wb");
  if (file == NULL || fwrite(field, sizeof field, 1, file) != 1 || fclose(file) != 0 ||
      rename(draft, name) != 0) {
    perror(name);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  /* When all have this one nobody needs the one before the last. */
  MPI_Barrier(MPI_COMM_WORLD);
  name_file(name, folder, step - 2 * every);
  remove(name);
}

/* The newest step of which all have a checkpoint; 0: none. */
static long read_checkpoint(const char* folder, long steps, long every) {
  char name[4096];
  for (long step = steps - steps % every; step > 0; step -= every) {
    name_file(name, folder, step);
    FILE* file = fopen(name, "rb");
    int has = file != NULL && fread(field, sizeof field, 1, file) == 1, have_all = 0;
    if (file != NULL) fclose(file);
    MPI_Allreduce(&has, &have_all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (have_all) return step;
  }
  for (int i = 0; i < cells + 2; ++i) field[i] = 0;
  if (rank == ranks / 2) field[cells / 2] = 1000;
  return 0;
}

static void make_step(void) {
  const int left = rank > 0 ? rank - 1 : MPI_PROC_NULL;
  const int right = rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL;
  MPI_Sendrecv(&field[1], 1, MPI_DOUBLE, left, 0, &field[cells + 1], 1, MPI_DOUBLE, right, 0,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Sendrecv(&field[cells], 1, MPI_DOUBLE, right, 1, &field[0], 1, MPI_DOUBLE, left, 1,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int i = 1; i <= cells; ++i) next[i] = 0.25 * (field[i - 1] + 2 * field[i] + field[i + 1]);
  for (int i = 1; i <= cells; ++i) field[i] = next[i];
}

int main(int count, char** words) {
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const char* folder = count > 1 ? words[1] : ".";
  const long steps = count > 2 ? atol(words[2]) : 2000;
  const long every = count > 3 ? atol(words[3]) : 100;
  const useconds_t pause = count > 4 ? (useconds_t)atol(words[4]) : 0;

  long step = read_checkpoint(folder, steps, every);
  if (rank == 0) printf("begins at step %ld\n", step), fflush(stdout);
  while (step < steps) {
    if (pause > 0) usleep(pause);
    make_step();
    if (++step % every == 0) write_checkpoint(folder, step, every);
  }
  double own = 0, heat = 0, place = 0;
  for (int i = 1; i <= cells; ++i) own += field[i] * (1.0 + rank * (double)cells + i);
  MPI_Reduce(&own, &place, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  own = 0;
  for (int i = 1; i <= cells; ++i) own += field[i] * field[i];
  MPI_Reduce(&own, &heat, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("after %ld steps: %a %a\n", steps, heat, place);
  MPI_Finalize();
  return 0;
}
