/* Ways to end, and not to.
 *
 *   endings abort RANK STATUS   that rank calls MPI_Abort while the others wait for it
 *   endings given-up RANK       the MPI library finds no way on there; the others go on
 *   endings mistake RANK HOW    it ends by segv, overflow of its stack, abort, fpe, heap (a write
 *                               beyond an allocation, which malloc finds), or exits with a status;
 *                               the others go on. RANK -1: all. Of own-abort and blocked-segv no
 *                               handler hears; quick, _exit and kernel-exit pass by exit handlers,
 *                               with status 9
 *   endings in-finalize RANK STATUS   it exits with that status in a callback of MPI_Finalize
 *   endings late-mistake RANK HOW   likewise, on the way out of main behind MPI_Finalize
 *   endings forever             all ranks do barriers and compute until somebody ends them
 *   endings status STATUS       all ranks end well, with this exit status
 *   endings crash               all ranks die of a segmentation fault
 *   endings echo                rank 0 copies stdin to stdout; the others read what they get:
 * nothing
 */
#include <dlfcn.h>
#include <mpi.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int rank;

static int number_of(const char* text) { return (int)strtol(text, NULL, 10); }

/* As Open MPI does it, for instance with a message whose sender is no member of its communicator.
 */
static void be_given_up(int by) {
  int (*give_up)(int, const char*, ...) = NULL;
  int one = 1, sum = 0;
  *(void**)&give_up = dlsym(RTLD_DEFAULT, "ompi_rte_abort");
  if (give_up == NULL) exit(2);
  if (rank == by) give_up(-1, "nothing is at %s", "number 7");
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("%d go on\n", sum);
}

static int overflow(int depth) {
  volatile char much[4096] = {(char)depth};
  return overflow(depth + 1) + much[depth % 4096];
}

/* malloc finds it, and calls abort with its lock held. */
static void write_beyond(void) {
  enum { bytes = 100000 };
  volatile char* memory = malloc(bytes);
  for (int i = 0; i < 64; ++i) memory[bytes + i] = (char)-1;
  exit(malloc(bytes) == NULL);
}

/* What nothing in this process can notice. */
static void end_unheard(const char* how) {
  sigset_t all;
  sigfillset(&all);
  if (strcmp(how, "own-abort") == 0) {
    signal(SIGABRT, SIG_DFL);
    abort();
  }
  if (strcmp(how, "blocked-segv") == 0) {
    sigprocmask(SIG_BLOCK, &all, NULL);
    *(volatile int*)(uintptr_t)number_of("16") = 1;
  }
  if (strcmp(how, "quick") == 0) quick_exit(9);
  if (strcmp(how, "_exit") == 0) _exit(9);
  if (strcmp(how, "kernel-exit") == 0) syscall(SYS_exit_group, 9);
}

static void make_mistake(int by, const char* how) {
  int one = 1, sum = 0;
  if (by < 0) by = rank;
  if (rank == by) end_unheard(how);
  if (rank == by && strcmp(how, "overflow") == 0) exit(overflow(0));
  if (rank == by && strcmp(how, "abort") == 0) abort();
  if (rank == by && strcmp(how, "heap") == 0) write_beyond();
  if (rank == by && strcmp(how, "fpe") == 0) raise(SIGFPE);
  if (rank == by && strcmp(how, "segv") == 0) *(volatile int*)(uintptr_t)number_of("16") = 1;
  if (rank == by) exit(number_of(how));
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("%d go on\n", sum);
}

static const char* late_mistake;
static int late_by;

static void make_late_mistake(void) {
  if (rank != late_by) return;
  if (strcmp(late_mistake, "segv") == 0) *(volatile int*)(uintptr_t)number_of("16") = 1;
  abort();
}

static int leave(MPI_Comm comm, int key, void* status, void* extra) {
  (void)comm, (void)key, (void)extra;
  exit((int)(intptr_t)status);
}

static void leave_in_finalize(int by, int status) {
  int key;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, leave, &key, NULL);
  if (rank == by) MPI_Comm_set_attr(MPI_COMM_SELF, key, (void*)(intptr_t)status);
}

static void echo(void) {
  char data[4096];
  size_t bytes, total = 0;
  while ((bytes = fread(data, 1, sizeof data, stdin)) > 0) {
    if (rank == 0) fwrite(data, 1, bytes, stdout);
    total += bytes;
  }
  if (rank != 0 && total > 0) exit(1);
}

int main(int argc, char** argv) {
  int status = 0;
  if (argc < 2) return 2;
  const char* what = argv[1];
  if (strcmp(argv[1], "late-mistake") == 0) {
    late_by = number_of(argv[2]);
    late_mistake = argv[3];
    atexit(make_late_mistake); /* before those that MPI_Init may add: so it is called behind them */
  }
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Barrier(MPI_COMM_WORLD);
  if (strcmp(what, "abort") == 0) {
    if (rank == number_of(argv[2])) MPI_Abort(MPI_COMM_WORLD, number_of(argv[3]));
    MPI_Barrier(MPI_COMM_WORLD);
  } else if (strcmp(what, "given-up") == 0) {
    be_given_up(number_of(argv[2]));
  } else if (strcmp(what, "mistake") == 0) {
    make_mistake(number_of(argv[2]), argv[3]);
  } else if (strcmp(what, "forever") == 0) {
    if (rank == 0) puts("on and on");
    fflush(stdout);
    for (;;) {
      MPI_Barrier(MPI_COMM_WORLD);
      usleep(1000);
    }
  } else if (strcmp(what, "status") == 0) {
    status = number_of(argv[2]);
  } else if (strcmp(what, "in-finalize") == 0) {
    leave_in_finalize(number_of(argv[2]), number_of(argv[3]));
  } else if (strcmp(what, "crash") == 0) {
    signal(SIGSEGV, SIG_DFL);
    raise(SIGSEGV);
  } else if (strcmp(what, "echo") == 0) {
    echo();
  } else if (strcmp(what, "late-mistake") != 0) {
    status = 2;
  }
  MPI_Finalize();
  return status;
}
