// Ends before all are through MPI_Init: `early_end HOW RANK [WHEN]`, HOW is kill, segv,
// exec:PATH (a shell becomes that program, which cannot run) or an exit status; RANK -1 is nobody,
// all is everybody; WHEN is before or in (MPI_Init). The others say how many are here.
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

static const char* how = "";

static void end(void) {
  if (strcmp(how, "kill") == 0) raise(SIGKILL);
  if (strcmp(how, "segv") == 0) raise(SIGSEGV);
  if (strncmp(how, "exec:", 5) == 0)
    execl("/bin/sh", "sh", "-c", "exec \"$0\"", how + 5, (char*)NULL);
  exit(atoi(how));
}

static void end_in_handler(int number) {
  (void)number;
  end();
}

static void end_in_a_moment(void) {
  const struct itimerval moment = {.it_value = {.tv_usec = 20000}};
  signal(SIGALRM, end_in_handler);
  setitimer(ITIMER_REAL, &moment, NULL);
}

int main(int argc, char** argv) {
  const char* rank = getenv("OMPI_COMM_WORLD_RANK");
  if (argc > 2 && rank != NULL && (strcmp(rank, argv[2]) == 0 || strcmp("all", argv[2]) == 0)) {
    how = argv[1];
    if (argc > 3 && strcmp(argv[3], "in") == 0)
      end_in_a_moment();
    else
      end();
  }
  MPI_Init(&argc, &argv);
  int own = 0, one = 1, all = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &own);
  MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (own == 0) printf("%d are here\n", all);
  MPI_Finalize();
  return 0;
}
