/* Does MPIX_Comm_shrink come to an end if another process dies in it?
 *
 *   mpirun --with-ft ulfm -n 8 shrink MICROSECONDS
 *
 * Rank 1 kills itself. Everybody else knows of it and has revoked the communicator before they
 * enter the shrink together; rank 2 dies so many microseconds after it has entered (0: it lives).
 * Rank 0 prints "size N after T ms, code C". It may hang, so run it under a time limit. Needs 4
 * ranks or more.
 */
#include <mpi.h>
#if defined(OPEN_MPI)
#  include <mpi-ext.h>
#endif
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

enum { first_victim = 1, second_victim = 2, tag = 7 };

static int rank;
static int ranks;

#if defined(OMPI_HAVE_MPI_EXT_FTMPI) && OMPI_HAVE_MPI_EXT_FTMPI

static int known_losses(MPI_Comm comm) {
  MPI_Group failed;
  int count = 0;
  int flag = 0;
  MPI_Iprobe(MPI_ANY_SOURCE, tag, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE); /* makes progress */
  MPIX_Comm_get_failed(comm, &failed);
  MPI_Group_size(failed, &count);
  if (failed != MPI_GROUP_EMPTY) MPI_Group_free(&failed);
  return count;
}

/* A barrier of all but the first victim, by messages between living ones. */
static void meet(void) {
  for (int round = 0; round < 2; ++round)
    for (int peer = 1; peer < ranks; ++peer) {
      if (peer == first_victim || (rank != 0 && rank != peer)) continue;
      const int other = rank == 0 ? peer : 0;
      const int is_sender = (rank == 0) == (round == 1);
      if (is_sender)
        MPI_Send(NULL, 0, MPI_BYTE, other, tag, MPI_COMM_WORLD);
      else
        MPI_Recv(NULL, 0, MPI_BYTE, other, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

static void die_after(long microseconds) {
  const struct itimerval timer = {{0, 0}, {0, microseconds}};
  if (microseconds > 0) setitimer(ITIMER_REAL, &timer, NULL); /* SIGALRM ends us */
}

int main(int argc, char** argv) {
  MPI_Comm comm;
  MPI_Comm rest = MPI_COMM_NULL;
  int size = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Barrier(comm);
  if (rank == first_victim) kill(getpid(), SIGKILL);
  while (known_losses(comm) == 0) {
  }
  MPIX_Comm_revoke(comm);
  meet();
  if (rank == second_victim) die_after(argc > 1 ? atol(argv[1]) : 0);
  const double begin = MPI_Wtime();
  const int code = MPIX_Comm_shrink(comm, &rest);
  const double milliseconds = 1e3 * (MPI_Wtime() - begin);
  if (code == MPI_SUCCESS) MPI_Comm_size(rest, &size);
  if (rank == 0) printf("size %d after %.1f ms, code %d\n", size, milliseconds, code);
  fflush(stdout);
  _exit(0); /* MPI_Finalize is another question */
}

#else

int main(void) {
  (void)rank, (void)ranks;
  puts("this MPI has no ULFM");
  return 0;
}

#endif
