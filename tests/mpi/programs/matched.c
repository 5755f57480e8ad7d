/* A receive from anybody has begun to take a message of rank 1 when rank 2 dies: it goes on.
 *
 *   matched FOLDER
 *
 * For 3 ranks, over TCP. Rank 1 says that it has much to send, and makes no progress until rank 2
 * is dead, and rank 0 has had time to hear of it.
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { bytes = 8 << 20, moment_us = 300000 };

static char buffer[bytes];

static void path_of(const char* folder, char* path) { snprintf(path, 512, "%s/sent", folder); }

static void send_in_parts(const char* path, int victim) {
  MPI_Request request;
  memset(buffer, 1, bytes);
  MPI_Isend(buffer, bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &request);
  fclose(fopen(path, "w"));
  while (kill(victim, 0) == 0) usleep(1000);
  usleep(2 * moment_us);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void die_then(const char* path) {
  while (access(path, F_OK) != 0) usleep(1000);
  usleep(moment_us);
  kill(getpid(), SIGKILL);
}

static void receive(void) {
  MPI_Status status;
  int count = 0, right = 0;
  int code = MPI_Recv(buffer, bytes, MPI_BYTE, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &status);
  MPI_Get_count(&status, MPI_BYTE, &count);
  for (int i = 0; i < bytes; ++i) right += buffer[i] == 1;
  printf("%s, from %d: %d bytes, %d right\n", code == MPI_SUCCESS ? "received" : "failed",
         status.MPI_SOURCE, count, right);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  int rank, own = (int)getpid(), pids[3];
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Allgather(&own, 1, MPI_INT, pids, 1, MPI_INT, MPI_COMM_WORLD);
  char path[512];
  path_of(argv[1], path);
  if (rank == 0) receive();
  if (rank == 1) send_in_parts(path, pids[2]);
  if (rank == 2) die_then(path);
  MPI_Finalize();
  return 0;
}
