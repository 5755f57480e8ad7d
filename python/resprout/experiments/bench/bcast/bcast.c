// What `resprout bench bcast` runs: broadcasts by several protocols in turns, in the same
// processes.
//
//   bcast ROUNDS CALLS SEED SIZES VICTIMS VARIANT...
//
// SIZES and VICTIMS are lists with commas; `-` is an empty one. A VARIANT is `native` for the MPI
// library's own broadcast, `default` for what Resprout does by itself, or a spec. In each round
// every variant has one sample, in random order: a barrier of all that live, then CALLS broadcasts.
// A sample is a broadcast's share, in microseconds, of the time from when the root begins until the
// last rank has returned. All ranks are on one host and have one clock.
//
// The victims kill themselves before anything is measured, after all communicators are made: they
// stay in the trees. Each communicator is used as long as that is so, and then another one.
//
// Rank 0 prints `at ROUNDS-DONE` now and then, `sample BYTES VARIANT-NUMBER US...` at the end of
// each size, and `done`.
#include <float.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// What a session keeps for others at most before it synchronizes, which leaves out the dead.
enum { kept_calls_max = 255, kept_bytes_max = 1 << 20, variants_max = 64, numbers_max = 64 };

// Both so that the latest counts: of all ranks, the maximum.
typedef struct {
  double minus_begin;  // microseconds; at the root
  double end;
} Sample;

static int rounds;
static int calls;
static unsigned long long seed;
static int sizes[numbers_max];
static int size_count;
static int victims[numbers_max];
static int victim_count;
static char** variants;
static int variant_count;
static int rank;
static int ranks;
static unsigned char* buffer;

static void give_up(const char* what) {
  fprintf(stderr, "bench: rank %d: %s\n", rank, what);
  exit(1);
}

static void* room_for(size_t count, size_t bytes) {
  void* memory = calloc(count, bytes);
  if (memory == NULL) give_up("no memory left");
  return memory;
}

static int read_list(char* text, int* numbers) {
  int count = 0;
  for (char* word = strtok(text, ","); word != NULL && count < numbers_max;
       word = strtok(NULL, ","))
    if (strcmp(word, "-") != 0) numbers[count++] = atoi(word);
  return count;
}

static int below(int bound) {
  seed = seed * 6364136223846793005ull + 1442695040888963407ull;
  return (int)((seed >> 33) % (unsigned)bound);
}

static int is_native(int variant) { return strcmp(variants[variant], "native") == 0; }

// How many samples of a size one communicator is good for.
static int samples_per_communicator(int bytes) {
  int fitting = kept_bytes_max / (bytes > 0 ? bytes : 1);
  if (victim_count == 0) return rounds;
  if (fitting > kept_calls_max) fitting = kept_calls_max;
  return fitting / calls > 1 ? fitting / calls : 1;
}

static int communicators_for(int bytes) {
  return (rounds + samples_per_communicator(bytes) - 1) / samples_per_communicator(bytes);
}

static MPI_Comm make_communicator(int variant) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  if (is_native(variant) || strcmp(variants[variant], "default") == 0) return comm;
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "resprout_bcast", variants[variant]);
  if (MPI_Comm_set_info(comm, info) != MPI_SUCCESS) give_up("the hint was refused");
  MPI_Info_free(&info);
  return comm;
}

// For one size, the communicators of each variant.
static MPI_Comm* make_communicators(int bytes) {
  const int count = communicators_for(bytes);
  MPI_Comm* comms = room_for((size_t)(count * variant_count), sizeof *comms);
  for (int i = 0; i < count * variant_count; ++i) comms[i] = make_communicator(i % variant_count);
  return comms;
}

static void lose_victims(void) {
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < victim_count; ++i)
    if (victims[i] == rank) raise(SIGKILL);
  if (victim_count == 0) return;
  MPI_Barrier(MPI_COMM_WORLD);  // ends without the victims
  // Everybody has heard of them by then.
  const struct timespec pause = {0, 50000000};
  nanosleep(&pause, NULL);
}

static void broadcast(int variant, int bytes, MPI_Comm comm) {
  const int code = is_native(variant) ? PMPI_Bcast(buffer, bytes, MPI_BYTE, 0, comm)
                                      : MPI_Bcast(buffer, bytes, MPI_BYTE, 0, comm);
  if (code != MPI_SUCCESS) give_up("a broadcast failed");
}

static double now_us(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return 1e6 * (double)time.tv_sec + 1e-3 * (double)time.tv_nsec;
}

// When this rank returned; at the root, the negative of when it began, too. The payload's ends tell
// whether it is the right one.
static Sample sample(int variant, int bytes, MPI_Comm comm) {
  static unsigned char mark = 0;
  ++mark;
  if (bytes > 0) buffer[0] = buffer[bytes - 1] = (unsigned char)(rank == 0 ? mark : ~mark);
  MPI_Barrier(MPI_COMM_WORLD);
  Sample times = {rank == 0 ? -now_us() : -DBL_MAX, 0};
  for (int i = 0; i < calls; ++i) broadcast(variant, bytes, comm);
  times.end = now_us();
  if (bytes > 0 && (buffer[0] != mark || buffer[bytes - 1] != mark))
    give_up("a broadcast brought something else");
  return times;
}

static void shuffle(int* order) {
  for (int i = 0; i < variant_count; ++i) order[i] = i;
  for (int i = variant_count - 1; i > 0; --i) {
    const int j = below(i + 1);
    const int kept = order[i];
    order[i] = order[j];
    order[j] = kept;
  }
}

static void print_samples(int bytes, const Sample* samples) {
  for (int variant = 0; variant < variant_count; ++variant) {
    printf("sample %d %d", bytes, variant);
    for (int round = 0; round < rounds; ++round) {
      const Sample* it = &samples[round * variant_count + variant];
      printf(" %.3f", (it->end + it->minus_begin) / calls);
    }
    printf("\n");
  }
  fflush(stdout);
}

static void measure(int bytes, const MPI_Comm* comms, int rounds_before) {
  const size_t count = (size_t)rounds * (size_t)variant_count;
  Sample* own = room_for(count, sizeof *own);
  Sample* latest = room_for(count, sizeof *latest);
  int order[variants_max];
  const int per_communicator = samples_per_communicator(bytes);
  if (victim_count == 0)  // with victims each call counts
    for (int variant = 0; variant < variant_count; ++variant)
      sample(variant, bytes, comms[variant]);
  for (int round = 0; round < rounds; ++round) {
    shuffle(order);
    for (int i = 0; i < variant_count; ++i) {
      const int variant = order[i];
      const MPI_Comm comm = comms[round / per_communicator * variant_count + variant];
      own[round * variant_count + variant] = sample(variant, bytes, comm);
    }
    if (rank == 0) {
      printf("at %d\n", rounds_before + round + 1);
      fflush(stdout);
    }
  }
  MPI_Allreduce(own, latest, 2 * (int)count, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  if (rank == 0) print_samples(bytes, latest);
  free(own);
  free(latest);
}

static void read_arguments(int argc, char** argv) {
  if (argc < 7 || argc - 6 > variants_max) give_up("arguments: see the head of this program");
  rounds = atoi(argv[1]);
  calls = atoi(argv[2]);
  seed = strtoull(argv[3], NULL, 10);
  size_count = read_list(argv[4], sizes);
  victim_count = read_list(argv[5], victims);
  variants = argv + 6;
  variant_count = argc - 6;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  read_arguments(argc, argv);
  int bytes_max = 1;
  MPI_Comm* comms[numbers_max];
  for (int i = 0; i < size_count; ++i) {
    if (sizes[i] > bytes_max) bytes_max = sizes[i];
    comms[i] = make_communicators(sizes[i]);
  }
  buffer = room_for((size_t)bytes_max, 1);
  lose_victims();
  for (int i = 0; i < size_count; ++i) measure(sizes[i], comms[i], i * rounds);
  if (rank == 0) puts("done");
  MPI_Finalize();
  return 0;
}
