// Integer sort: keys that lie anywhere are brought in order, each rank with a range of them.
//
//   is [CLASS [ITERATIONS]]     2^14, 2^18 or 2^22 keys
//
// A histogram of all keys (MPI_Allreduce) says which keys each rank gets, so that all get about as
// many. Counts go round by MPI_Alltoall, the keys with their places of origin by MPI_Alltoallv;
// they arrive by rank and in order, so counting sort leaves equal keys in the order that they had.
// That is verified: keys ascend, equal ones by origin, on each rank and from rank to rank, and none
// is missing.
#include "kernel.h"

enum { key_bits = 16, bucket_bits = 10, keys_end = 1 << key_bits, buckets = 1 << bucket_bits };

struct item {
  uint32_t key;
  uint32_t origin;
};

// The mean of four uniform numbers: keys are many in the middle and few at the ends.
static uint32_t key_of(int iteration, uint64_t index) {
  uint64_t sum = 0;
  for (uint64_t part = 0; part < 4; ++part)
    sum += kernel_hash(index * 4 + part + ((uint64_t)iteration << 48)) % keys_end;
  return (uint32_t)(sum / 4);
}

// owner[b]: the rank that gets bucket b. All ranks compute the same.
static void assign_buckets(const int64_t* histogram, int64_t keys, int ranks, int* owner) {
  int64_t before = 0;
  for (int b = 0; b < buckets; ++b) {
    owner[b] = (int)(before * ranks / keys);
    before += histogram[b];
    if (owner[b] >= ranks) owner[b] = ranks - 1;
  }
}

// Stable, by key.
static void counting_sort(const struct item* from, struct item* to, int count, int* places) {
  memset(places, 0, (keys_end + 1) * sizeof *places);
  for (int i = 0; i < count; ++i) ++places[from[i].key + 1];
  for (int key = 0; key < keys_end; ++key) places[key + 1] += places[key];
  for (int i = 0; i < count; ++i) to[places[from[i].key]++] = from[i];
}

// The order of items as one number.
static uint64_t order_of(struct item item) { return (uint64_t)item.key << 32 | item.origin; }

// Whether this rank's items ascend, and begin after all of lower ranks. Adds to the digest.
static int is_sorted(const struct item* sorted, int count, int iteration, int64_t keys,
                     uint64_t* digest) {
  uint64_t last = count > 0 ? order_of(sorted[count - 1]) + 1 : 0;
  uint64_t before = 0;  // beyond the last item of all lower ranks
  int64_t place = 0;    // of this rank's first item
  const int64_t number = count;
  int64_t total = number;
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Exscan(&last, &before, 1, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
  MPI_Exscan(&number, &place, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, &total, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  // MPI_Exscan gives the first rank nothing.
  if (rank == 0) {
    before = 0;
    place = 0;
  }
  int is_right = total == keys;
  for (int i = 0; i < count; ++i) {
    is_right = is_right && order_of(sorted[i]) >= before &&
               sorted[i].key == key_of(iteration, sorted[i].origin);
    before = order_of(sorted[i]) + 1;
    const uint64_t index = (uint64_t)iteration << 40 | ((uint64_t)place + (uint64_t)i);
    *digest += kernel_digest(index, order_of(sorted[i]));
  }
  return is_right;
}

struct exchange {
  int* to;  // counts and displacements
  int* to_begin;
  int* from;
  int* from_begin;
};

// Puts the items of each rank behind each other, says how many there are for each, and is told.
static int plan_exchange(struct exchange* plan, const struct item* items, int count,
                         const int* owner, int ranks, struct item* sent) {
  memset(plan->to, 0, (size_t)ranks * sizeof *plan->to);
  for (int i = 0; i < count; ++i) ++plan->to[owner[items[i].key >> (key_bits - bucket_bits)]];
  MPI_Alltoall(plan->to, 1, MPI_INT, plan->from, 1, MPI_INT, MPI_COMM_WORLD);
  int arriving = 0;
  for (int rank = 0, leaving = 0; rank < ranks; ++rank) {
    plan->to_begin[rank] = leaving;
    plan->from_begin[rank] = arriving;
    leaving += plan->to[rank];
    arriving += plan->from[rank];
    plan->to[rank] = 0;
  }
  for (int i = 0; i < count; ++i) {
    const int rank = owner[items[i].key >> (key_bits - bucket_bits)];
    sent[plan->to_begin[rank] + plan->to[rank]++] = items[i];
  }
  return arriving;
}

int main(int argc, char** argv) {
  const struct kernel kernel = kernel_begin(argc, argv, "is", 5);
  const int keys = 1 << (14 + 4 * kernel.class_number);
  const int begin = kernel_begin_of(kernel.rank, kernel.size, keys);
  const int count = kernel_begin_of(kernel.rank + 1, kernel.size, keys) - begin;
  const size_t ranks = (size_t)kernel.size;
  MPI_Datatype item_type;
  MPI_Type_contiguous(2, MPI_UINT32_T, &item_type);
  MPI_Type_commit(&item_type);
  struct item* items = kernel_memory((size_t)count, sizeof *items);
  struct item* sent = kernel_memory((size_t)count, sizeof *sent);
  int64_t* histogram = kernel_memory(buckets, sizeof *histogram);
  int* owner = kernel_memory(buckets, sizeof *owner);
  int* places = kernel_memory(keys_end + 1, sizeof *places);
  struct exchange plan = {kernel_memory(ranks, sizeof(int)), kernel_memory(ranks, sizeof(int)),
                          kernel_memory(ranks, sizeof(int)), kernel_memory(ranks, sizeof(int))};
  uint64_t digest = 0;
  int is_right = 1;
  for (int iteration = 0; iteration < kernel.iterations; ++iteration) {
    memset(histogram, 0, buckets * sizeof *histogram);
    for (int i = 0; i < count; ++i) {
      items[i] = (struct item){key_of(iteration, (uint64_t)(begin + i)), (uint32_t)(begin + i)};
      ++histogram[items[i].key >> (key_bits - bucket_bits)];
    }
    MPI_Allreduce(MPI_IN_PLACE, histogram, buckets, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    assign_buckets(histogram, keys, kernel.size, owner);
    const int arriving = plan_exchange(&plan, items, count, owner, kernel.size, sent);
    struct item* received = kernel_memory((size_t)arriving, sizeof *received);
    struct item* sorted = kernel_memory((size_t)arriving, sizeof *sorted);
    MPI_Alltoallv(sent, plan.to, plan.to_begin, item_type, received, plan.from, plan.from_begin,
                  item_type, MPI_COMM_WORLD);
    counting_sort(received, sorted, arriving, places);
    is_right = is_sorted(sorted, arriving, iteration, keys, &digest) && is_right;
    free(received);
    free(sorted);
  }
  MPI_Type_free(&item_type);
  void* const memory[] = {items,   sent,          histogram, owner,          places,
                          plan.to, plan.to_begin, plan.from, plan.from_begin};
  for (size_t i = 0; i < sizeof memory / sizeof *memory; ++i) free(memory[i]);
  return kernel_end(&kernel, (double)keys * kernel.iterations, digest, is_right);
}
