/* Receives from anybody that one call starts and another one completes. Rank 0 takes messages of
 * all others in each of MPI's ways and sends what it has found to all, so that replicas that differ
 * would send different messages. Each replica hurries and lingers at moments of its own.
 *
 *   wildcards [ROUNDS]     says "done", or on stderr what is wrong
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
  ways = 13,
  ranks_max = 16,
  findings_max = 128,
  large = 20000,
  answer_tag = 100,
  never = 200
};

static int rank, size;
static unsigned moment = 1;
static double findings[findings_max];
static int found;
static int room[ranks_max][large];
static int stop_is_sent;

static void check(int is_right, const char* what) {
  if (is_right) return;
  fprintf(stderr, "rank %d: %s\n", rank, what);
  MPI_Abort(MPI_COMM_WORLD, 9);
}

static void note(double value) {
  if (found < findings_max) findings[found++] = value;
}

/* Up to 1 ms, another one each time and in each replica. */
static void linger(void) {
  moment = moment * 1103515245u + 12345u;
  usleep(moment >> 16 & 1023);
}

static void send(int way, int value) {
  static int data[large];
  const int count = way == 5 ? large : 1;
  for (int i = 0; i < count; ++i) data[i] = value;
  if (way == 3) {
    MPI_Ssend(data, count, MPI_INT, 0, way, MPI_COMM_WORLD);
  } else {
    MPI_Send(data, count, MPI_INT, 0, way, MPI_COMM_WORLD);
  }
}

static void give(int way) {
  if (way == 10) {
    MPI_Comm comm;
    const int value = 10 * rank;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    linger();
    MPI_Send(&value, 1, MPI_INT, 0, way, comm);
    MPI_Comm_free(&comm);
    return;
  }
  if (way == 7) {
    if (stop_is_sent && rank == 1) send(way, 1);
    MPI_Barrier(MPI_COMM_WORLD);
    if (!stop_is_sent && rank == 1) send(way, 1);
    return;
  }
  linger();
  send(way, 10 * rank);
  if (way == 3) MPI_Barrier(MPI_COMM_WORLD);
  for (int more = 1; more <= (way == 12 ? 2 : way == 1 || way == 4); ++more) {
    linger();
    send(way, 10 * rank + more);
  }
}

static void expect_from(const MPI_Status* status, int value, int way) {
  int count = 0;
  MPI_Get_count(status, MPI_INT, &count);
  check(status->MPI_TAG == way, "another tag");
  check(count == (way == 5 ? large : 1), "another count");
  check(value / 10 == status->MPI_SOURCE, "the message of another rank");
}

static void start(int others, int way, MPI_Request* requests) {
  const int tag = way == 5 ? MPI_ANY_TAG : way;
  for (int i = 0; i < others; ++i)
    MPI_Irecv(room[i], large, MPI_INT, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &requests[i]);
}

/* Two of each sender, and one receive names its source: it comes after what was started before. */
static void in_order(int others, int way) {
  MPI_Request requests[2 * ranks_max];
  MPI_Status statuses[2 * ranks_max];
  int next[ranks_max] = {0};
  const int count = 2 * others;
  for (int i = 0; i < count; ++i)
    MPI_Irecv(room[i % ranks_max] + i, 1, MPI_INT, i == 1 ? 1 : MPI_ANY_SOURCE, way, MPI_COMM_WORLD,
              &requests[i]);
  MPI_Wait(&requests[1], &statuses[1]);
  check(statuses[1].MPI_SOURCE == 1, "not from rank 1");
  MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < count; ++i) {
    const int value = room[i % ranks_max][i];
    check(value % 10 == next[value / 10]++, "messages of one rank overtook one another");
    note(value);
  }
}

/* A receive that was started before a probe takes its message first. */
static void with_probes(int others, int way) {
  MPI_Status status;
  for (int i = 0; i < others; ++i) {
    MPI_Request request;
    int first = 0, second = 0, flag = 0;
    MPI_Irecv(&first, 1, MPI_INT, MPI_ANY_SOURCE, way, MPI_COMM_WORLD, &request);
    if (i % 2 == 0) {
      MPI_Probe(MPI_ANY_SOURCE, way, MPI_COMM_WORLD, &status);
    } else {
      while (!flag) MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &status);
    }
    note(status.MPI_SOURCE);
    MPI_Recv(&second, 1, MPI_INT, status.MPI_SOURCE, way, MPI_COMM_WORLD, &status);
    expect_from(&status, second, way);
    MPI_Wait(&request, &status);
    expect_from(&status, first, way);
    note(first);
    note(second);
  }
}

static void persistently(int others, int way) {
  MPI_Request requests[ranks_max];
  MPI_Status statuses[ranks_max];
  int indices[ranks_max], count, left = others;
  const int slots = others < 2 ? others : 2;
  for (int i = 0; i < slots; ++i)
    MPI_Recv_init(room[i], 1, MPI_INT, MPI_ANY_SOURCE, way, MPI_COMM_WORLD, &requests[i]);
  for (int started = 0; left > 0;) {
    for (int i = 0; started == 0 && i < slots; ++i) MPI_Start(&requests[i]);
    started = slots;
    while (left > 0) {
      MPI_Waitsome(slots, requests, &count, indices, statuses);
      if (count == MPI_UNDEFINED) break;
      for (int k = 0; k < count; ++k) {
        expect_from(&statuses[k], room[indices[k]][0], way);
        note(statuses[k].MPI_SOURCE);
        --left;
        if (started++ < others) MPI_Start(&requests[indices[k]]);
      }
    }
  }
  for (int i = 0; i < slots; ++i) MPI_Request_free(&requests[i]);
}

/* Those that name their source, without a wildcard before them, and then with one. */
static void named_persistently(int others, int way) {
  static int turn;
  MPI_Request wild[ranks_max], named[ranks_max];
  MPI_Status statuses[ranks_max];
  int index, flag = 0;
  for (int i = 0; i < others; ++i)
    MPI_Recv_init(room[i], 1, MPI_INT, i + 1, way, MPI_COMM_WORLD, &named[i]);
  for (int starts = 0; starts < 2; ++starts) {
    for (int i = 0; i < starts; ++i)
      MPI_Irecv(room[others], 1, MPI_INT, MPI_ANY_SOURCE, way, MPI_COMM_WORLD, &wild[0]);
    MPI_Startall(others, named);
    if (turn % 4 == 0) {
      MPI_Waitall(others, named, statuses);
    } else if (turn % 4 == 1) {
      for (flag = 0; !flag;) MPI_Testall(others, named, &flag, statuses);
    } else if (turn % 4 == 2) {
      for (int done = 0; done < others; ++done) {
        MPI_Waitany(others, named, &index, &statuses[0]);
        expect_from(&statuses[0], room[index][0], way);
        note(index);
      }
      for (int i = 0; i < others; ++i) statuses[i].MPI_SOURCE = i + 1;
    } else {
      for (int i = 0; i < others; ++i) {
        for (flag = 0; !flag;) MPI_Request_get_status(named[i], &flag, &statuses[i]);
        MPI_Wait(&named[i], &statuses[i]);
      }
    }
    for (int i = 0; i < others; ++i) {
      check(statuses[i].MPI_SOURCE == i + 1 && room[i][0] / 10 == i + 1, "not of who was named");
      check(starts != 0 || room[i][0] % 10 == 0, "not the first message");
      note(room[i][0]);
    }
  }
  MPI_Wait(&wild[0], &statuses[0]);
  expect_from(&statuses[0], room[others][0], way);
  note(room[others][0]);
  for (int left = 1; left < others; ++left) {
    MPI_Recv(room[0], 1, MPI_INT, MPI_ANY_SOURCE, way, MPI_COMM_WORLD, &statuses[0]);
    note(room[0][0]);
  }
  for (int i = 0; i < others; ++i) MPI_Request_free(&named[i]);
  ++turn;
}

/* Whether the message is there when the receive is cancelled, the replicas may see differently. */
static void cancelling(int way) {
  MPI_Request request;
  MPI_Status status;
  int value = 0, is_cancelled = 0;
  MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, way, MPI_COMM_WORLD, &request);
  linger();
  if (!stop_is_sent) MPI_Cancel(&request);
  MPI_Barrier(MPI_COMM_WORLD);
  if (stop_is_sent) MPI_Cancel(&request);
  MPI_Wait(&request, &status);
  MPI_Test_cancelled(&status, &is_cancelled);
  check(is_cancelled || (value == 1 && status.MPI_SOURCE == 1), "neither cancelled nor received");
  check(stop_is_sent || is_cancelled, "received what was not sent");
  if (is_cancelled)
    MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, way, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  note(is_cancelled + 10 * value);
}

/* Work goes on while nobody says that it is over. */
static void until_told(int others, int way) {
  MPI_Request told;
  MPI_Status status;
  int is_cancelled = 0, flag = 1;
  MPI_Irecv(room[0], 1, MPI_INT, MPI_ANY_SOURCE, never, MPI_COMM_WORLD, &told);
  for (int i = 0; i < others; ++i) {
    MPI_Recv(room[1], 1, MPI_INT, i + 1, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    expect_from(&status, room[1][0], way);
    MPI_Test(&told, &flag, &status);
    check(!flag, "told by nobody");
  }
  MPI_Cancel(&told);
  MPI_Wait(&told, &status);
  MPI_Test_cancelled(&status, &is_cancelled);
  check(is_cancelled, "not cancelled");
}

/* What was started on a communicator goes on when that is freed. */
static void on_freed(int others, int way) {
  MPI_Request requests[ranks_max];
  MPI_Status statuses[ranks_max];
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  for (int i = 0; i < others; ++i)
    MPI_Irecv(room[i], 1, MPI_INT, MPI_ANY_SOURCE, way, comm, &requests[i]);
  MPI_Comm_free(&comm);
  MPI_Waitall(others, requests, statuses);
  for (int i = 0; i < others; ++i) {
    expect_from(&statuses[i], room[i][0], way);
    note(statuses[i].MPI_SOURCE);
  }
}

/* One message of each other rank, two, or three. */
static void find(int way) {
  MPI_Request requests[ranks_max];
  MPI_Status status, statuses[ranks_max];
  int index, count, indices[ranks_max], flag = 0, polls = 0;
  const int others = size - 1;
  if (way == 1) return in_order(others, way);
  if (way == 4) return with_probes(others, way);
  if (way == 6) return persistently(others, way);
  if (way == 7) return cancelling(way);
  if (way == 10) return on_freed(others, way);
  if (way == 11) return until_told(others, way);
  if (way == 12) return named_persistently(others, way);
  start(others, way, requests);
  if (way == 3) {
    MPI_Barrier(MPI_COMM_WORLD); /* which the others reach when their messages are taken */
    note(MPI_Wtime());
  }
  if (way == 2 || way == 3) {
    MPI_Waitall(others, requests, statuses);
  } else if (way == 5) {
    for (flag = 0; !flag; ++polls) MPI_Testall(others, requests, &flag, statuses);
  }
  for (int done = 0; done < others; ++done) {
    if (way == 0) {
      MPI_Waitany(others, requests, &index, &statuses[done]);
      note(index);
      expect_from(&statuses[done], room[index][0], way);
    } else if (way == 8) {
      for (flag = 0; !flag; ++polls) MPI_Request_get_status(requests[done], &flag, &status);
      MPI_Wait(&requests[done], &statuses[done]);
      check(status.MPI_SOURCE == statuses[done].MPI_SOURCE, "get_status has another source");
      expect_from(&statuses[done], room[done][0], way);
    } else if (way == 9) {
      for (count = 0; count == 0; ++polls)
        MPI_Testsome(others, requests, &count, indices, statuses);
      if (count == MPI_UNDEFINED) break;
      for (int k = 0; k < count; ++k) note(statuses[k].MPI_SOURCE + 100 * indices[k]);
      continue;
    } else {
      expect_from(&statuses[done], room[done][0], way);
    }
    note(statuses[done].MPI_SOURCE);
  }
  if (way == 9) MPI_Waitall(others, requests, MPI_STATUSES_IGNORE);
  note(polls);
}

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? atoi(argv[1]) : 5;
  MPI_Request unanswered = MPI_REQUEST_NULL;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const char* replica = getenv("RESPROUT_REPLICA");
  moment = 7u * (unsigned)rank + 1000u * (unsigned)(replica != NULL ? atoi(replica) : 0);
  for (int round = 0; round < rounds; ++round) {
    stop_is_sent = round % 2;
    for (int way = 0; way < ways; ++way) {
      found = 0;
      if (rank == 0) {
        find(way);
        for (int to = 1; to < size; ++to)
          MPI_Send(findings, found, MPI_DOUBLE, to, answer_tag, MPI_COMM_WORLD);
      } else {
        give(way);
        MPI_Recv(findings, findings_max, MPI_DOUBLE, 0, answer_tag, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
      }
    }
  }
  /* Nobody sends it. */
  if (rank == 0) MPI_Irecv(room[0], 1, MPI_INT, MPI_ANY_SOURCE, ways, MPI_COMM_WORLD, &unanswered);
  MPI_Finalize();
  if (rank == 0) printf("done\n");
  return 0;
}
