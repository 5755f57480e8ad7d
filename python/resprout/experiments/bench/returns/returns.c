/* A computation that bench returns measures: what a checkpoint costs, or how soon it goes on.
 *
 *   returns costs MIB TIMES
 *     Each rank says for each of so many checkpoints, in nanoseconds of the slowest rank on rank 0:
 *     took MEMCPY WIRE CHECKPOINT
 *     WIRE: all ranks exchange as many bytes with a neighbor.
 *   returns period MIB MS EVERY_MS
 *     Steps for so long, with a checkpoint whenever so long has passed; 0: without any. Rank 0 says:
 *     lasted NS STEPS CHECKPOINTS CHECKPOINTS_NS
 *   returns kept|written|plain MIB STEPS EVERY PAUSE_US FOLDER
 *     So many steps, each of which takes a while, and a checkpoint after so many: `kept` in memory,
 *     `written` to files of its own, `plain`: none. Behind the first one all wait as long as there
 *     is a file `wait` in FOLDER.
 *     Each process leaves a file process-PID in FOLDER: the rank, when it was through MPI_Init, when
 *     it had its data back, the number of steps, and when each of them was over. All times are those
 *     of the wall clock, in nanoseconds.
 *
 * All end with the line `done`.
 */
#include <fcntl.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

int resprout_protect(void* begin, size_t bytes) __attribute__((weak));
int resprout_checkpoint(void) __attribute__((weak));

enum { neighbor_bytes = 1 << 20, steps_max = 1 << 16, head_words = 4 };

static int rank, ranks;
static size_t bytes;
static int64_t step;
static double* field;

static int64_t now_ns(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static void fail(const char* why) {
  fprintf(stderr, "bench: %s\n", why);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Part of the field changes, and all ranks meet. Returns what rank 0 has said. */
static int advance(int said) {
  const size_t cells = bytes / sizeof *field;
  const size_t part = cells < 4096 ? cells : 4096;
  const size_t begin = (size_t)step * part % (cells - part + 1);
  double both[2] = {0, rank == 0 ? said : 0};
  for (int pass = 0; pass < 64; ++pass)
    for (size_t i = begin; i < begin + part; ++i) both[0] += field[i] += 1.0 / (1.0 + (double)i);
  MPI_Allreduce(MPI_IN_PLACE, both, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  field[begin] += both[0] * 1e-9;
  ++step;
  return (int)both[1];
}

/* In pieces, as MPI counts in ints and copies make way for each other. */
static void exchange(const char* from, char* into) {
  const int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;
  for (size_t at = 0; at < bytes; at += neighbor_bytes) {
    const int count = (int)(bytes - at < neighbor_bytes ? bytes - at : neighbor_bytes);
    MPI_Sendrecv(from + at, count, MPI_BYTE, right, 0, into + at, count, MPI_BYTE, left, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

static void measure_costs(int times) {
  char* copy = malloc(bytes);
  if (copy == NULL) fail("no memory");
  memset(copy, 0, bytes);
  for (int i = -2; i < times; ++i) { /* the first two make room */
    memset(field, rank + i + 3, bytes);
    int64_t took[3];
    for (int kind = 0; kind < 3; ++kind) {
      MPI_Barrier(MPI_COMM_WORLD);
      const int64_t began = now_ns(CLOCK_MONOTONIC);
      if (kind == 0) memcpy(copy, field, bytes);
      if (kind == 1) exchange((const char*)field, copy);
      if (kind == 2) resprout_checkpoint();
      took[kind] = now_ns(CLOCK_MONOTONIC) - began;
    }
    int64_t slowest[3];
    MPI_Reduce(took, slowest, 3, MPI_INT64_T, MPI_MAX, 0, MPI_COMM_WORLD);
    if (i < 0 || rank != 0) continue;
    printf("took %lld %lld %lld\n", (long long)slowest[0], (long long)slowest[1],
           (long long)slowest[2]);
  }
  free(copy);
}

static void measure_period(int64_t duration_ms, int64_t every_ms) {
  enum { goes_on, is_due, is_over };
  const int64_t million = 1000000;
  int64_t checkpoints = 0, kept_ns = 0;
  if (every_ms > 0) resprout_checkpoint(), resprout_checkpoint(); /* these make room */
  MPI_Barrier(MPI_COMM_WORLD);
  const int64_t began = now_ns(CLOCK_MONOTONIC);
  for (int next = goes_on; next != is_over;) {
    const int64_t passed_ns = now_ns(CLOCK_MONOTONIC) - began;
    next = goes_on;
    if (every_ms > 0 && passed_ns >= (checkpoints + 1) * every_ms * million)
      next = is_due;
    else if (passed_ns >= duration_ms * million)
      next = is_over;
    next = advance(next);
    if (next != is_due) continue;
    const int64_t before = now_ns(CLOCK_MONOTONIC);
    resprout_checkpoint();
    kept_ns += now_ns(CLOCK_MONOTONIC) - before;
    ++checkpoints;
  }
  if (rank == 0)
    printf("lasted %lld %lld %lld %lld\n", (long long)(now_ns(CLOCK_MONOTONIC) - began),
           (long long)step, (long long)checkpoints, (long long)kept_ns);
}

/* A file takes its name when it is whole; the one before stays. */
static void write_file(const char* folder) {
  char draft[4096], name[4096];
  snprintf(draft, sizeof draft, "%s/draft-%d", folder, rank);
  snprintf(name, sizeof name, "%s/kept-%d-%lld", folder, rank, (long long)step);
  FILE* file = fopen(draft, "wb");
  if (file == NULL || fwrite(field, 1, bytes, file) != bytes || fclose(file) != 0 ||
      rename(draft, name) != 0)
    fail("a checkpoint cannot be written");
}

/* The newest step of which all ranks have a file. */
static void read_file(const char* folder, int64_t steps, int64_t every) {
  char name[4096];
  int64_t newest = steps;
  for (; newest > 0; newest -= every) {
    snprintf(name, sizeof name, "%s/kept-%d-%lld", folder, rank, (long long)newest);
    if (access(name, R_OK) == 0) break;
  }
  MPI_Allreduce(MPI_IN_PLACE, &newest, 1, MPI_INT64_T, MPI_MIN, MPI_COMM_WORLD);
  if (newest <= 0) return;
  snprintf(name, sizeof name, "%s/kept-%d-%lld", folder, rank, (long long)newest);
  FILE* file = fopen(name, "rb");
  if (file == NULL || fread(field, 1, bytes, file) != bytes) fail("a checkpoint cannot be read");
  fclose(file);
  step = newest;
}

static void wait_while_told(const char* folder) {
  char name[4096];
  snprintf(name, sizeof name, "%s/wait", folder);
  while (access(name, F_OK) == 0) usleep(5000);
}

static volatile int64_t* open_times(const char* folder) {
  char name[4096];
  snprintf(name, sizeof name, "%s/process-%d", folder, (int)getpid());
  const int file = open(name, O_RDWR | O_CREAT, 0600);
  const size_t length = (head_words + steps_max) * sizeof(int64_t);
  if (file < 0 || ftruncate(file, (off_t)length) != 0) fail("no file for times");
  void* at = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (at == MAP_FAILED) fail("no memory for times");
  close(file);
  return at;
}

static void run_until_killed(const char* how, int64_t steps, int64_t every, long pause_us,
                             const char* folder) {
  const int64_t entered = now_ns(CLOCK_REALTIME);
  volatile int64_t* times = open_times(folder);
  const int is_kept = strcmp(how, "kept") == 0, is_written = strcmp(how, "written") == 0;
  if (is_kept) resprout_checkpoint();
  if (is_written) read_file(folder, steps, every);
  times[0] = rank;
  times[1] = entered;
  times[2] = now_ns(CLOCK_REALTIME);
  const int64_t begun_at = step;
  while (step < steps) {
    usleep((useconds_t)pause_us);
    advance(0);
    if (step - begun_at <= steps_max) {
      times[head_words + step - begun_at - 1] = now_ns(CLOCK_REALTIME);
      times[3] = step - begun_at;
    }
    if (step % every != 0) continue;
    if (is_kept) resprout_checkpoint();
    if (is_written) write_file(folder);
    if (step == every) wait_while_told(folder);
  }
}

int main(int count, char** words) {
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (count < 4) return 2;
  bytes = strtoul(words[2], NULL, 10) << 20;
  const int64_t steps = atoll(words[3]);
  const int64_t every = count > 4 ? atoll(words[4]) : 0;
  const long pause_us = count > 5 ? atol(words[5]) : 0;
  field = malloc(bytes);
  if (field == NULL) fail("no memory");
  memset(field, 0, bytes);
  if (resprout_protect) {
    resprout_protect(&step, sizeof step);
    resprout_protect(field, bytes);
  }
  if (strcmp(words[1], "costs") == 0)
    measure_costs((int)steps);
  else if (strcmp(words[1], "period") == 0)
    measure_period(steps, every);
  else
    run_until_killed(words[1], steps, every, pause_us, words[6]);
  if (rank == 0) printf("done\n");
  MPI_Finalize();
  return 0;
}
