/* Lines of what programs do that may come out differently in each replica. What comes of each goes
 * to all ranks, in a message whose tag is its number, from 1, and in a collective.
 *
 *   patterns PATTERN...
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { size_max = 4096 };

static unsigned char found[size_max];
static size_t found_size;

static void find(const void* bytes, size_t size) {
  memcpy(found + found_size, bytes, size);
  found_size += size;
}
#define FIND(value) find(&(value), sizeof(value))

static void check(int is_right, const char* what) {
  if (is_right) return;
  fprintf(stderr, "WRONG: %s\n", what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void use_getpid(void) {
  const pid_t pid = getpid(), parent = getppid(), thread = gettid();
  FIND(pid);
  FIND(parent);
  FIND(thread);
}

/* Whatever takes the id of a process takes that one. */
static void use_own_pid(void) {
  char path[64], line[256] = "";
  cpu_set_t cores;
  check(kill(getpid(), 0) == 0 && getpgid(getpid()) == getpgid(0), "kill and getpgid");
  check(sched_getaffinity(getpid(), sizeof cores, &cores) == 0, "sched_getaffinity");
  check(getpriority(PRIO_PROCESS, (id_t)getpid()) == getpriority(PRIO_PROCESS, 0), "getpriority");
  snprintf(path, sizeof path, "/proc/%d/comm", (int)getpid());
  FILE* file = fopen(path, "r");
  check(file != NULL && fgets(line, sizeof line, file) != NULL, "its file");
  check(strcmp(line, "patterns\n") == 0, "its name");
  fclose(file);
  const pid_t self = getpid(), child = fork();
  if (child == 0) _exit(getppid() == self && getpid() != self ? 0 : 1);
  int status;
  check(child > 0 && waitpid(child, &status, 0) == child && status == 0, "a child's parent");
  FIND(self);
}

static void use_gethostname(void) {
  char name[256]; /* what is behind the name is sent, too */
  gethostname(name, sizeof name);
  FIND(name);
}

static void use_uname(void) {
  struct utsname names;
  uname(&names);
  find(names.nodename, sizeof names.nodename);
}

static void use_processor_name(void) {
  char name[MPI_MAX_PROCESSOR_NAME];
  int length;
  MPI_Get_processor_name(name, &length);
  FIND(name);
}

static void use_getrandom(void) {
  uint64_t number;
  check(getrandom(&number, sizeof number, 0) == sizeof number, "getrandom");
  FIND(number);
}

static void use_getentropy(void) {
  uint64_t number;
  check(getentropy(&number, sizeof number) == 0, "getentropy");
  FIND(number);
}

static void use_urandom(void) {
  uint64_t number;
  const int file = open("/dev/urandom", O_RDONLY);
  check(read(file, &number, sizeof number) == sizeof number, "/dev/urandom");
  close(file);
  FIND(number);
  /* Its number is that of another file now. */
  const int other = open("/proc/self/comm", O_RDONLY);
  char name[9] = "";
  check(other == file && read(other, name, 8) == 8 && strcmp(name, "patterns") == 0, "a file");
  close(other);
}

static void use_urandom_stream(void) {
  uint64_t number;
  FILE* file = fopen("/dev/urandom", "rb");
  check(file != NULL && fread(&number, sizeof number, 1, file) == 1, "/dev/urandom");
  fclose(file);
  FIND(number);
}

static void use_time_seed(void) {
  srand((unsigned)(time(NULL) ^ getpid()));
  const int number = rand();
  FIND(number);
}

static void use_clock(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  FIND(now);
  now.tv_nsec += 1000000;
  if (now.tv_nsec >= 1000000000) ++now.tv_sec, now.tv_nsec -= 1000000000;
  check(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &now, NULL) == 0, "sleeping until then");
}

static void use_processor(void) {
  const int core = sched_getcpu();
  double load = 0;
  struct sysinfo info;
  memset(&info, 0, sizeof info);
  check(getloadavg(&load, 1) == 1 && sysinfo(&info) == 0, "the load");
  FIND(core);
  FIND(load);
  FIND(info.freeram);
}

/* Not of the heap, as what MPI allocates differs, nor of the stack, behind which the environment
 * lies. */
static void use_addresses(void) {
  void (*code)(void) = use_addresses;
  int (*of_library)(const char*) = puts;
  void* data = found;
  FIND(code);
  FIND(of_library);
  FIND(data);
}

static void* read_clock(void* into) {
  clock_gettime(CLOCK_MONOTONIC, into);
  return NULL;
}

static void use_clock_in_thread(void) {
  pthread_t thread;
  struct timespec now;
  pthread_create(&thread, NULL, read_clock, &now);
  pthread_join(thread, NULL);
  FIND(now);
}

static void* read_random(void* into) {
  check(getrandom(into, 8, 0) == 8, "getrandom");
  return NULL;
}

static void use_random_in_thread(void) {
  pthread_t thread;
  uint64_t number = 0;
  pthread_create(&thread, NULL, read_random, &number);
  pthread_join(thread, NULL);
  FIND(number);
}

static void use_mkdtemp(void) {
  char name[] = "/tmp/patterns-XXXXXX";
  check(mkdtemp(name) != NULL && rmdir(name) == 0, "mkdtemp");
  FIND(name);
}

static void use_mkstemp(void) {
  char name[] = "/tmp/patterns-XXXXXX";
  const int file = mkstemp(name);
  check(file >= 0 && close(file) == 0 && unlink(name) == 0, "mkstemp");
  FIND(name);
}

static void use_inode(void) {
  struct stat status;
  FILE* file = tmpfile();
  check(file != NULL && fstat(fileno(file), &status) == 0, "tmpfile");
  FIND(status.st_ino);
  // It stays open: what a file had that is gone may be the number of the next one.
}

static void use_replica_variable(void) {
  const char* replica = getenv("RESPROUT_REPLICA");
  const int number = replica == NULL ? -1 : atoi(replica);
  FIND(number);
}

static const struct {
  const char* name;
  void (*use)(void);
} patterns[] = {
    {"getpid", use_getpid},
    {"own-pid", use_own_pid},
    {"gethostname", use_gethostname},
    {"uname", use_uname},
    {"processor-name", use_processor_name},
    {"getrandom", use_getrandom},
    {"getentropy", use_getentropy},
    {"urandom", use_urandom},
    {"urandom-stream", use_urandom_stream},
    {"time-seed", use_time_seed},
    {"clock", use_clock},
    {"processor", use_processor},
    {"addresses", use_addresses},
    {"clock-in-thread", use_clock_in_thread},
    {"random-in-thread", use_random_in_thread},
    {"mkdtemp", use_mkdtemp},
    {"mkstemp", use_mkstemp},
    {"inode", use_inode},
    {"replica-variable", use_replica_variable},
};

static int number_of(const char* name) {
  for (int i = 0; i < (int)(sizeof patterns / sizeof *patterns); ++i)
    if (strcmp(name, patterns[i].name) == 0) return i;
  return -1;
}

/* Before MPI_Init they are no business of MPI, or have another process to begin. */
static int is_early(const char* name) {
  return strcmp(name, "own-pid") != 0 && strcmp(name, "processor-name") != 0;
}

int main(int argc, char** argv) {
  int rank, size;
  unsigned char early[32][size_max], sums[size_max], left[size_max];
  size_t early_size[32] = {0};
  if (argc < 2 || argc > 32) return 2;
  for (int i = 1; i < argc; ++i) {
    if (number_of(argv[i]) < 0) return 2;
    found_size = 0;
    if (is_early(argv[i])) patterns[number_of(argv[i])].use();
    memcpy(early[i], found, found_size);
    early_size[i] = found_size;
  }
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int i = 1; i < argc; ++i) {
    found_size = 0;
    find(early[i], early_size[i]);
    for (int round = 0; round < 3; ++round) patterns[number_of(argv[i])].use();
    MPI_Sendrecv(found, (int)found_size, MPI_BYTE, (rank + 1) % size, i, left, (int)found_size,
                 MPI_BYTE, (rank + size - 1) % size, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Allreduce(found, sums, (int)found_size, MPI_BYTE, MPI_BXOR, MPI_COMM_WORLD);
  }
  if (rank == 0) puts("done");
  MPI_Finalize();
  return 0;
}
