/* Messages from anybody, in all of MPI's ways, over and over: whoever receives one goes on with
   what was in it, in the order in which they came. Replicas that take them in different orders end
   with different numbers.

   anybody STEPS FOLDER: each rank writes its number into a file there that has the numbers of its
   replica and its rank, and says that it is done. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ways = 12, ranks_max = 8, each = 2, all_max = each * ranks_max, tag_of = 40 };

struct message {
  int source, number, step, nothing; /* no gap: replicas compare all bytes */
  unsigned long state;
};

static unsigned long state;
static int rank, size, step;
static unsigned moment = 1;

static void mix(unsigned long value) { state = state * 6364136223846793005ul + value + 1; }

static void check(int is_right, const char* what) {
  if (is_right) return;
  fprintf(stderr, "rank %d, step %d: %s\n", rank, step, what);
  MPI_Abort(MPI_COMM_WORLD, 9);
}

/* Up to 0.5 ms, another one each time and in each replica. */
static void linger(void) {
  moment = moment * 1103515245u + 12345u;
  usleep(moment >> 16 & 511);
}

static int next_of[ranks_max];

static void take(const struct message* message, const MPI_Status* status, int tag) {
  check(message->step == step, "a message of another step");
  check(status->MPI_SOURCE == message->source, "a message of another rank");
  check(status->MPI_TAG == tag, "a message of another tag");
  check(message->number == next_of[message->source]++, "not the next message of its sender");
  int bytes = 0;
  MPI_Get_count(status, MPI_BYTE, &bytes);
  check(bytes == (int)sizeof *message, "a message of another size");
  mix((unsigned long)message->source);
  mix(message->state);
}

#define RECEIVE(into, source, tag) \
  (into), (int)sizeof(struct message), MPI_BYTE, (source), (tag), MPI_COMM_WORLD

static struct message room[all_max];

static void in_any_order(int way, int tag, int count) {
  MPI_Request requests[all_max];
  MPI_Status statuses[all_max];
  int indices[all_max], index, done, flag;
  for (int i = 0; i < count; ++i) MPI_Irecv(RECEIVE(&room[i], MPI_ANY_SOURCE, tag), &requests[i]);
  if (way == 1) {
    MPI_Waitall(count, requests, statuses);
    for (int i = 0; i < count; ++i) take(&room[i], &statuses[i], tag);
    return;
  }
  /* In the order in which they were started they are those of one sender in order. */
  MPI_Status of[all_max];
  for (int left = count; left > 0; left -= done) {
    done = 0;
    if (way == 2) {
      MPI_Waitany(count, requests, &index, &statuses[0]);
      indices[0] = index;
      done = 1;
    } else {
      for (flag = 0; !done; ++flag) MPI_Testsome(count, requests, &done, indices, statuses);
    }
    for (int k = 0; k < done; ++k) {
      of[indices[k]] = statuses[k];
      mix((unsigned long)indices[k]);
    }
  }
  for (int i = 0; i < count; ++i) take(&room[i], &of[i], tag);
}

static void persistently(int tag, int count) {
  static MPI_Request requests[2];
  MPI_Status status;
  for (int i = 0; i < 2; ++i) MPI_Recv_init(RECEIVE(&room[i], MPI_ANY_SOURCE, tag), &requests[i]);
  for (int left = count; left > 0; left -= 2) {
    MPI_Startall(2, requests);
    for (int i = 0; i < 2; ++i) {
      MPI_Wait(&requests[i], &status);
      take(&room[i], &status, tag);
    }
  }
  for (int i = 0; i < 2; ++i) MPI_Request_free(&requests[i]);
}

/* Each rank in turn, of any tag; and in a receive that is started. */
static void of_any_tag(int tag) {
  MPI_Status status;
  MPI_Request request;
  for (int from = 0; from < size; ++from) {
    if (from == rank) continue;
    MPI_Irecv(RECEIVE(&room[1], from, MPI_ANY_TAG), &request);
    MPI_Recv(RECEIVE(&room[2], from, MPI_ANY_TAG), &status);
    MPI_Status first;
    MPI_Wait(&request, &first);
    take(&room[1], &first, tag);
    take(&room[2], &status, tag);
  }
}

/* A receive that was started before a probe takes its message first. */
static void behind_a_started_one(int tag, int count) {
  MPI_Request request;
  MPI_Status status, first;
  for (int left = count; left > 0; left -= 2) {
    MPI_Irecv(RECEIVE(&room[0], MPI_ANY_SOURCE, tag), &request);
    MPI_Probe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &status);
    MPI_Recv(RECEIVE(&room[1], status.MPI_SOURCE, tag), &status);
    MPI_Wait(&request, &first);
    take(&room[0], &first, tag);
    take(&room[1], &status, tag);
  }
}

static void one_by_one(int way, int tag, int count) {
  MPI_Status status;
  for (int left = count; left > 0; --left) {
    int source = MPI_ANY_SOURCE, flag = 0;
    if (way == 4) {
      MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
      source = status.MPI_SOURCE;
    } else if (way == 5) {
      while (!flag) MPI_Iprobe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &flag, &status);
      int bytes = 0;
      MPI_Get_count(&status, MPI_BYTE, &bytes);
      check(bytes == (int)sizeof(struct message), "a probed message of another size");
      source = status.MPI_SOURCE;
    }
    MPI_Recv(RECEIVE(room, source, tag), &status);
    take(room, &status, tag);
  }
}

/* Messages that are matched before they are received: all of them first, or one after the other. */
static void matched(int way, int tag, int count) {
  MPI_Message messages[all_max];
  MPI_Status status;
  for (int i = 0; i < count; ++i) {
    int flag = 0, bytes = 0;
    if (way == 10) MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &messages[i], &status);
    while (way == 11 && !flag)
      MPI_Improbe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &flag, &messages[i], &status);
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    check(bytes == (int)sizeof(struct message), "a matched message of another size");
    mix((unsigned long)status.MPI_SOURCE);
    if (way == 10) {
      MPI_Mrecv(room, (int)sizeof *room, MPI_BYTE, &messages[i], &status);
      check(messages[i] == MPI_MESSAGE_NULL, "a message that was received has a handle");
      take(room, &status, tag);
    }
  }
  if (way == 10) return;
  MPI_Request requests[all_max];
  MPI_Status statuses[all_max];
  for (int i = 0; i < count; ++i)
    MPI_Imrecv(&room[i], (int)sizeof room[i], MPI_BYTE, &messages[i], &requests[i]);
  MPI_Waitall(count, requests, statuses);
  for (int i = 0; i < count; ++i) take(&room[i], &statuses[i], tag);
}

/* What one sends goes out with what it receives. */
static void exchanging(int tag) {
  MPI_Status status;
  for (int k = 1; k < size; ++k) {
    const struct message message = {rank, 0, step, 0, state};
    MPI_Sendrecv(&message, (int)sizeof message, MPI_BYTE, (rank + k) % size, tag + k,
                 RECEIVE(room, MPI_ANY_SOURCE, tag + k), &status);
    next_of[room->source] = 0;
    take(room, &status, tag + k);
  }
}

static void one_step(void) {
  const int way = step % ways, tag = tag_of + 10 * way, count = each * (size - 1);
  struct message out[each];
  MPI_Request sent[all_max];
  int open = 0;
  memset(next_of, 0, sizeof next_of);
  linger();
  for (int number = 0; number < each && way != 9; ++number) {
    out[number] = (struct message){rank, number, step, 0, state};
    for (int to = 0; to < size; ++to)
      if (to != rank)
        MPI_Isend(&out[number], (int)sizeof out[number], MPI_BYTE, to, tag, MPI_COMM_WORLD,
                  &sent[open++]);
  }
  if (way == 0 || way == 4 || way == 5) one_by_one(way, tag, count);
  if (way >= 1 && way <= 3) in_any_order(way, tag, count);
  if (way == 6) persistently(tag, count);
  if (way == 7) of_any_tag(tag);
  if (way == 8) behind_a_started_one(tag, count);
  if (way == 9) exchanging(tag);
  if (way >= 10) matched(way, tag, count);
  MPI_Waitall(open, sent, MPI_STATUSES_IGNORE);
  unsigned long all = 0;
  MPI_Allreduce(&state, &all, 1, MPI_UNSIGNED_LONG, MPI_BXOR, MPI_COMM_WORLD);
  mix(all);
}

int main(int argc, char** argv) {
  if (argc < 3) return 1;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const char* replica = getenv("RESPROUT_REPLICA");
  if (replica == NULL) replica = "0";
  state = (unsigned long)rank;
  moment = 7u * (unsigned)rank + 1000u * (unsigned)atoi(replica);
  for (step = 0; step < atoi(argv[1]); ++step) one_step();
  char name[1000];
  snprintf(name, sizeof name, "%s/%s-%d", argv[2], replica, rank);
  FILE* file = fopen(name, "w");
  fprintf(file, "%lx", state);
  fclose(file);
  printf("rank %d is done\n", rank);
  MPI_Finalize();
  return 0;
}
