/* Every way to read a clock, before MPI_Init and after it, and what programs make of it: times go
 * to other ranks, are added up, and decide how often a loop goes round. Replicas that read
 * different times would send different messages, or different numbers of them.
 *
 *   clocks [forked|threads]
 *
 * forked   a child of the process reads clocks of its own
 * threads  with MPI_THREAD_MULTIPLE, and a thread beside that reads clocks all the time: times are
 *          the process's own, and are not sent
 */
#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/times.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { kinds = 12 };

static int rank, size;
static atomic_int is_over;

static void check(int is_right, const char* what) {
  if (is_right) return;
  fprintf(stderr, "WRONG on rank %d: %s\n", rank, what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static double seconds(clockid_t clock) {
  struct timespec t;
  check(clock_gettime(clock, &t) == 0, "a clock");
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* All clocks that there are. */
static void read_all(double* into) {
  struct timeval day;
  struct timespec utc;
  struct tms used;
  struct rusage usage;
  clockid_t clocks[] = {CLOCK_REALTIME, CLOCK_MONOTONIC, CLOCK_MONOTONIC_RAW, CLOCK_BOOTTIME,
                        CLOCK_PROCESS_CPUTIME_ID};
  for (int i = 0; i < 5; ++i) into[i] = seconds(clocks[i]);
  gettimeofday(&day, NULL);
  into[5] = (double)day.tv_sec + 1e-6 * (double)day.tv_usec;
  timespec_get(&utc, TIME_UTC);
  into[6] = (double)utc.tv_sec + 1e-9 * (double)utc.tv_nsec;
  into[7] = (double)time(NULL);
  into[8] = (double)clock();
  into[9] = (double)times(&used);
  into[10] = (double)(used.tms_utime + used.tms_stime);
  getrusage(RUSAGE_SELF, &usage);
  into[11] = (double)usage.ru_utime.tv_usec + (double)usage.ru_maxrss;
}

/* By its own count of readings: as the time goes by. */
static int readings_in(double duration) {
  int count = 0;
  for (double begin = seconds(CLOCK_MONOTONIC); seconds(CLOCK_MONOTONIC) < begin + duration;)
    ++count;
  return count;
}

/* Operators are called inside of MPI. */
static void latest(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)type;
  check(seconds(CLOCK_MONOTONIC) > 0, "a clock inside of an operator");
  for (int i = 0; i < *count; ++i)
    if (((double*)in)[i] > ((double*)inout)[i]) ((double*)inout)[i] = ((double*)in)[i];
}

static void* read_on(void* nothing) {
  while (!is_over) seconds(CLOCK_MONOTONIC);
  return nothing;
}

static void read_in_child(void) {
  int status;
  const pid_t child = fork();
  if (child == 0) {
    double own[kinds];
    for (int i = 0; i < 1000; ++i) read_all(own);
    _exit(0);
  }
  check(child > 0 && waitpid(child, &status, 0) == child && status == 0, "a child");
}

int main(int argc, char** argv) {
  double before[kinds], now[kinds], last[kinds], begin;
  int provided, is_threads = argc > 1 && strcmp(argv[1], "threads") == 0;
  pthread_t thread;
  MPI_Op op;
  read_all(before);
  begin = seconds(CLOCK_MONOTONIC);
  MPI_Init_thread(&argc, &argv, is_threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Op_create(latest, 1, &op);
  if (is_threads) pthread_create(&thread, NULL, read_on, NULL);
  for (int round = 0; round < 5; ++round) {
    usleep((unsigned)(rand() & 1023));
    if (argc > 1 && strcmp(argv[1], "forked") == 0) read_in_child();
    read_all(now);
    check(now[0] > 1e9 && now[1] >= begin && now[5] >= now[0] - 1, "times go on");
    now[2] += readings_in(0.001);
    if (is_threads) memset(now, 0, sizeof now);
    MPI_Allreduce(now, last, kinds, MPI_DOUBLE, op, MPI_COMM_WORLD);
    MPI_Sendrecv(now, kinds, MPI_DOUBLE, (rank + 1) % size, 0, last, kinds, MPI_DOUBLE,
                 (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    /* As many messages as one has time for. */
    if (rank == 0 && !is_threads)
      for (int i = readings_in(0.0005) & 31; i >= 0; --i)
        MPI_Send(&i, 1, MPI_INT, size - 1, 1, MPI_COMM_WORLD);
    if (rank == size - 1 && !is_threads)
      for (int i = 1; i != 0;) MPI_Recv(&i, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  if (!is_threads) MPI_Allreduce(before, last, kinds, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  is_over = 1;
  if (is_threads) pthread_join(thread, NULL);
  MPI_Op_free(&op);
  if (rank == 0) puts("done");
  MPI_Finalize();
  check(seconds(CLOCK_REALTIME) > 1e9, "a clock at the end");
  return 0;
}
