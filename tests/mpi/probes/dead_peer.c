/* What does this MPI do with a peer that dies, without any help? One question a run.
 *
 *   mpirun --with-ft ulfm -n 3 dead_peer QUESTION [BYTES]
 *
 * Rank 1 is the victim: it kills itself 0.3 s after the start, having read nothing; rank 2 lives
 * and stays silent until rank 0 is through. Rank 0 asks and prints "QUESTION: class N after T ms".
 * A question that hangs is an answer too, so run it under a time limit.
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { victim = 1, silent = 2, tag_done = 99 };

static char* buffer;
static int bytes = 8;

static int recv_victim(void) {
  return MPI_Recv(buffer, bytes, MPI_BYTE, victim, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
static int recv_any(void) {
  return MPI_Recv(buffer, bytes, MPI_BYTE, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
static int probe_victim(void) { return MPI_Probe(victim, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); }
static int probe_any(void) {
  return MPI_Probe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
static int mprobe_victim(void) {
  MPI_Message message;
  return MPI_Mprobe(victim, 0, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
}
static int mprobe_any(void) {
  MPI_Message message;
  return MPI_Mprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
}
static int iprobe_victim(void) {
  int flag = 0, code = MPI_SUCCESS;
  while (!flag && code == MPI_SUCCESS)
    code = MPI_Iprobe(victim, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
  return code;
}
static int iprobe_any(void) {
  int flag = 0, code = MPI_SUCCESS;
  while (!flag && code == MPI_SUCCESS)
    code = MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
  return code;
}
static int ssend_victim(void) {
  return MPI_Ssend(buffer, bytes, MPI_BYTE, victim, 0, MPI_COMM_WORLD);
}
static int send_victim(void) {
  return MPI_Send(buffer, bytes, MPI_BYTE, victim, 0, MPI_COMM_WORLD);
}
static int flood_victim(void) {
  int code = MPI_SUCCESS;
  for (int i = 0; i < 200000 && code == MPI_SUCCESS; ++i) code = send_victim();
  return code;
}
static int isend_victim(void) {
  MPI_Request request;
  MPI_Isend(buffer, bytes, MPI_BYTE, victim, 0, MPI_COMM_WORLD, &request);
  return MPI_Wait(&request, MPI_STATUS_IGNORE);
}
static int issend_victim(void) {
  MPI_Request request;
  MPI_Issend(buffer, bytes, MPI_BYTE, victim, 0, MPI_COMM_WORLD, &request);
  return MPI_Wait(&request, MPI_STATUS_IGNORE);
}
static int irecv_victim(void) {
  MPI_Request request;
  MPI_Irecv(buffer, bytes, MPI_BYTE, victim, 0, MPI_COMM_WORLD, &request);
  return MPI_Wait(&request, MPI_STATUS_IGNORE);
}
static int irecv_test(void) {
  MPI_Request request;
  int flag = 0, code = MPI_SUCCESS;
  MPI_Irecv(buffer, bytes, MPI_BYTE, victim, 0, MPI_COMM_WORLD, &request);
  while (!flag && code == MPI_SUCCESS) code = MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
  return code;
}
static int irecv_any(void) {
  MPI_Request request;
  MPI_Irecv(buffer, bytes, MPI_BYTE, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &request);
  int code = MPI_Wait(&request, MPI_STATUS_IGNORE);
  printf("request is %s\n", request == MPI_REQUEST_NULL ? "null" : "kept");
  return code;
}
static int waitall(void) {
  MPI_Request requests[2];
  MPI_Status statuses[2];
  MPI_Irecv(buffer, bytes, MPI_BYTE, silent, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(buffer + bytes, bytes, MPI_BYTE, victim, 0, MPI_COMM_WORLD, &requests[1]);
  int code = MPI_Waitall(2, requests, statuses);
  printf("errors %d %d, requests %s %s\n", statuses[0].MPI_ERROR, statuses[1].MPI_ERROR,
         requests[0] == MPI_REQUEST_NULL ? "null" : "kept",
         requests[1] == MPI_REQUEST_NULL ? "null" : "kept");
  return code;
}
static int waitany(void) {
  MPI_Request requests[2];
  int index = -1;
  MPI_Irecv(buffer, bytes, MPI_BYTE, silent, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(buffer + bytes, bytes, MPI_BYTE, victim, 0, MPI_COMM_WORLD, &requests[1]);
  int code = MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
  printf("index %d, requests %s %s\n", index, requests[0] == MPI_REQUEST_NULL ? "null" : "kept",
         requests[1] == MPI_REQUEST_NULL ? "null" : "kept");
  return code;
}
static int waitsome(void) {
  MPI_Request requests[2];
  MPI_Status statuses[2];
  int indices[2] = {-1, -1}, outcount = -1;
  MPI_Irecv(buffer, bytes, MPI_BYTE, silent, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(buffer + bytes, bytes, MPI_BYTE, victim, 0, MPI_COMM_WORLD, &requests[1]);
  int code = MPI_Waitsome(2, requests, &outcount, indices, statuses);
  printf("outcount %d first %d error %d, requests %s %s\n", outcount, indices[0],
         statuses[0].MPI_ERROR, requests[0] == MPI_REQUEST_NULL ? "null" : "kept",
         requests[1] == MPI_REQUEST_NULL ? "null" : "kept");
  return code;
}
static int sendrecv_victim(void) {
  return MPI_Sendrecv(buffer, bytes, MPI_BYTE, victim, 0, buffer + bytes, bytes, MPI_BYTE, victim,
                      0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
static int sendrecv_replace_victim(void) {
  return MPI_Sendrecv_replace(buffer, bytes, MPI_BYTE, victim, 0, victim, 0, MPI_COMM_WORLD,
                              MPI_STATUS_IGNORE);
}
static int isendrecv_victim(void) {
#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
  MPI_Request request;
  MPI_Isendrecv(buffer, bytes, MPI_BYTE, victim, 0, buffer + bytes, bytes, MPI_BYTE, victim, 0,
                MPI_COMM_WORLD, &request);
  return MPI_Wait(&request, MPI_STATUS_IGNORE);
#else
  return MPI_SUCCESS;
#endif
}
static int persistent_recv(void) {
  MPI_Request request;
  MPI_Recv_init(buffer, bytes, MPI_BYTE, victim, 0, MPI_COMM_WORLD, &request);
  int started = MPI_Start(&request);
  int code = MPI_Wait(&request, MPI_STATUS_IGNORE);
  int kept = request != MPI_REQUEST_NULL;
  int again = kept ? MPI_Start(&request) : -1;
  int second = kept && again == MPI_SUCCESS ? MPI_Wait(&request, MPI_STATUS_IGNORE) : -1;
  printf("start %d, kept %d, start again %d, wait again %d\n", started, kept, again, second);
  return code;
}
static int persistent_send(void) {
  MPI_Request request;
  MPI_Ssend_init(buffer, bytes, MPI_BYTE, victim, 0, MPI_COMM_WORLD, &request);
  MPI_Start(&request);
  return MPI_Wait(&request, MPI_STATUS_IGNORE);
}
static int late_recv(void) {
  usleep(800000);
  return recv_victim();
}
static int late_send(void) {
  usleep(800000);
  return send_victim();
}
static int late_isend(void) {
  usleep(800000);
  return isend_victim();
}
static int late_iprobe_any(void) {
  usleep(800000);
  return iprobe_any();
}

static const struct question {
  const char* name;
  int (*ask)(void);
} questions[] = {
    {"recv", recv_victim},
    {"recv_any", recv_any},
    {"probe", probe_victim},
    {"probe_any", probe_any},
    {"mprobe", mprobe_victim},
    {"mprobe_any", mprobe_any},
    {"iprobe", iprobe_victim},
    {"iprobe_any", iprobe_any},
    {"ssend", ssend_victim},
    {"send", send_victim},
    {"flood", flood_victim},
    {"isend", isend_victim},
    {"issend", issend_victim},
    {"irecv", irecv_victim},
    {"irecv_test", irecv_test},
    {"irecv_any", irecv_any},
    {"waitall", waitall},
    {"waitany", waitany},
    {"waitsome", waitsome},
    {"sendrecv", sendrecv_victim},
    {"sendrecv_replace", sendrecv_replace_victim},
    {"isendrecv", isendrecv_victim},
    {"persistent_recv", persistent_recv},
    {"persistent_send", persistent_send},
    {"late_recv", late_recv},
    {"late_send", late_send},
    {"late_isend", late_isend},
    {"late_iprobe_any", late_iprobe_any},
};

static void ask(const struct question* question) {
  double start = MPI_Wtime();
  int code = question->ask();
  double ms = 1e3 * (MPI_Wtime() - start) - 300;
  int class = MPI_SUCCESS;
  MPI_Error_class(code, &class);
  printf("%s: class %d after %.1f ms\n", question->name, class, ms);
  fflush(stdout);
  MPI_Ssend(NULL, 0, MPI_BYTE, silent, tag_done, MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  if (argc > 2) bytes = atoi(argv[2]);
  buffer = calloc(2, (size_t)bytes);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == victim) {
    usleep(300000);
    kill(getpid(), argc > 3 && !strcmp(argv[3], "stop") ? SIGSTOP : SIGKILL);
  }
  if (rank == silent) MPI_Recv(NULL, 0, MPI_BYTE, 0, tag_done, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (rank == 0)
    for (size_t i = 0; i < sizeof questions / sizeof *questions; ++i)
      if (argc > 1 && !strcmp(questions[i].name, argv[1])) ask(&questions[i]);
  MPI_Finalize();
  return 0;
}
