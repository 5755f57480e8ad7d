/* Everything that may come out differently in two runs: which of several messages a wildcard takes,
 * which request is complete first, how often one asks in vain, what time it is. Rank 0 finds it out
 * in each of MPI's ways and sends what it has found to all others, so that replicas that differ
 * would send different messages. Each replica hurries and lingers at moments of its own.
 *
 *   decisions [ROUNDS]
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { ways = 11, ranks_max = 16, findings_max = 64, large = 20000, answer_tag = 50 };

static int rank, size;
static unsigned moment = 1;
static double findings[findings_max];
static int found;
static int sent[large], received[large]; /* not at once */

static void note(double value) {
  if (found < findings_max) findings[found++] = value;
}

/* Up to 1 ms, another one each time and in each replica. */
static void linger(void) {
  moment = moment * 1103515245u + 12345u;
  usleep(moment >> 16 & 1023);
}

static void give(int way) {
  linger();
  if (way >= 9) {
    sent[0] = rank;
    MPI_Sendrecv(sent, large, MPI_INT, 0, way, received, large, MPI_INT, 0, answer_tag,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return;
  }
  MPI_Send(&rank, 1, MPI_INT, 0, way, MPI_COMM_WORLD);
}

/* One message of each other rank. */
static void find(int way) {
  int value[ranks_max], index, indices[ranks_max], count, flag = 0, polls = 0;
  MPI_Request requests[ranks_max];
  MPI_Status status, statuses[ranks_max];
  MPI_Message message;
  const int others = size - 1;
  if (way >= 4 && way < 9)
    for (int i = 0; i < others; ++i)
      MPI_Irecv(&value[i], 1, MPI_INT, i + 1, way, MPI_COMM_WORLD, &requests[i]);
  for (int done = 0; done < others; ++done) {
    if (way == 0) {
      MPI_Recv(value, 1, MPI_INT, MPI_ANY_SOURCE, way, MPI_COMM_WORLD, &status);
      note(status.MPI_SOURCE);
    } else if (way == 1) {
      for (flag = 0; !flag; ++polls)
        MPI_Iprobe(MPI_ANY_SOURCE, way, MPI_COMM_WORLD, &flag, &status);
      MPI_Recv(value, 1, MPI_INT, status.MPI_SOURCE, way, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      note(status.MPI_SOURCE);
    } else if (way == 2) {
      MPI_Mprobe(MPI_ANY_SOURCE, way, MPI_COMM_WORLD, &message, &status);
      MPI_Mrecv(value, 1, MPI_INT, &message, &status);
      note(status.MPI_SOURCE);
    } else if (way == 3) {
      for (flag = 0; !flag; ++polls)
        MPI_Improbe(MPI_ANY_SOURCE, way, MPI_COMM_WORLD, &flag, &message, &status);
      MPI_Mrecv(value, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
      note(value[0]);
    } else if (way == 4) {
      MPI_Waitany(others, requests, &index, &status);
      note(index);
    } else if (way == 5) {
      for (flag = 0; !flag; ++polls) MPI_Testany(others, requests, &index, &flag, &status);
      note(status.MPI_SOURCE);
    } else if (way == 6) {
      MPI_Waitsome(others, requests, &count, indices, statuses);
      if (count == MPI_UNDEFINED) break;
      for (int i = 0; i < count; ++i) note(indices[i] + 100 * count);
    } else if (way == 7) {
      for (flag = 0; !flag; ++polls) MPI_Test(&requests[done], &flag, &status);
    } else if (way == 9) {
      MPI_Sendrecv(sent, large, MPI_INT, done + 1, answer_tag, received, large, MPI_INT,
                   MPI_ANY_SOURCE, way, MPI_COMM_WORLD, &status);
      note(status.MPI_SOURCE + 100 * received[0]);
    } else if (way == 10) {
      MPI_Sendrecv_replace(received, large, MPI_INT, done + 1, answer_tag, MPI_ANY_SOURCE, way,
                           MPI_COMM_WORLD, &status);
      note(status.MPI_SOURCE + 100 * received[0]);
    } else {
      for (flag = 0; !flag; ++polls) MPI_Testall(others, requests, &flag, statuses);
      break;
    }
  }
  if (way == 6) MPI_Waitall(others, requests, MPI_STATUSES_IGNORE);
  note(polls);
  note(MPI_Wtime());
}

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? atoi(argv[1]) : 5;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const char* replica = getenv("RESPROUT_REPLICA");
  moment = 7u * (unsigned)rank + 1000u * (unsigned)(replica != NULL ? atoi(replica) : 0);
  for (int round = 0; round < rounds; ++round) {
    for (int way = 0; way < ways; ++way) {
      found = 0;
      if (rank == 0) {
        find(way);
        for (int to = 1; to < size; ++to)
          MPI_Send(findings, found, MPI_DOUBLE, to, 100, MPI_COMM_WORLD);
      } else {
        give(way);
        MPI_Recv(findings, findings_max, MPI_DOUBLE, 0, 100, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      }
    }
  }
  MPI_Finalize();
  if (rank == 0) printf("done\n");
  return 0;
}
