// Messages that do not depend on one another: what is flipped in one is in no other.
//
//   exchange ROUNDS
//
// In each round every rank sends a message to another one and gets one, with the round as tag: the
// n-th message that a rank sends has the tag n - 1. Calls, sizes and partners change from round to
// round. At the end one line has the digest of all that was received, by all ranks.
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { calls = 5, sizes = 4, numbers_max = 8192 };

static const int numbers_of[sizes] = {1, 32, 512, numbers_max};

// 64 bits that look random, from a number. (splitmix64's last step.)
static uint64_t hash(uint64_t x) {
  x = (x + 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 31)) * 0x94d049bb133111ebu;
  return x ^ (x >> 29);
}

struct round {
  uint64_t* sent;
  uint64_t* received;
  int count;
  int number;
  int to;
  int from;
};

static void persistent(const struct round* round) {
  MPI_Request both[2];
  MPI_Recv_init(round->received, round->count, MPI_UINT64_T, round->from, round->number,
                MPI_COMM_WORLD, &both[0]);
  MPI_Send_init(round->sent, round->count, MPI_UINT64_T, round->to, round->number, MPI_COMM_WORLD,
                &both[1]);
  MPI_Startall(2, both);
  MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
  MPI_Request_free(&both[0]);
  MPI_Request_free(&both[1]);
}

static void exchange(const struct round* round) {
  const int count = round->count;
  const int tag = round->number;
  MPI_Request both[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  const int call = tag % calls;
  if (call == 0) {
    persistent(round);
    return;
  }
  if (call == 1) {
    MPI_Sendrecv(round->sent, count, MPI_UINT64_T, round->to, tag, round->received, count,
                 MPI_UINT64_T, round->from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return;
  }
  MPI_Irecv(round->received, count, MPI_UINT64_T, round->from, tag, MPI_COMM_WORLD, &both[0]);
  if (call == 2)
    MPI_Send(round->sent, count, MPI_UINT64_T, round->to, tag, MPI_COMM_WORLD);
  else if (call == 3)
    MPI_Ssend(round->sent, count, MPI_UINT64_T, round->to, tag, MPI_COMM_WORLD);
  else
    MPI_Isend(round->sent, count, MPI_UINT64_T, round->to, tag, MPI_COMM_WORLD, &both[1]);
  MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int rounds = argc == 2 ? (int)strtol(argv[1], NULL, 10) : 0;
  static uint64_t sent[numbers_max];
  static uint64_t received[numbers_max];
  uint64_t digest = 0;
  for (int number = 0; ranks > 1 && number < rounds; ++number) {
    const int distance = 1 + number % (ranks - 1);
    // Sizes change at another pace than calls, and both than partners.
    const struct round round = {sent,
                                received,
                                numbers_of[number / calls % sizes],
                                number,
                                (rank + distance) % ranks,
                                (rank + ranks - distance) % ranks};
    const uint64_t name = (uint64_t)rank << 48 | (uint64_t)number << 24;
    for (int i = 0; i < round.count; ++i) sent[i] = hash(name + (uint64_t)i);
    exchange(&round);
    const uint64_t place = (uint64_t)round.from << 48 | (uint64_t)number << 24;
    for (int i = 0; i < round.count; ++i)
      digest += hash(hash(place + (uint64_t)i) ^ hash(received[i]));
  }
  uint64_t all = 0;
  MPI_Allreduce(&digest, &all, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  // By now all is verified: what a plane writes earlier may turn out to be wrong.
  if (rank == 0) printf("exchange digest=%016llx\n", (unsigned long long)all);
  return 0;
}
