/* Says what it is in each life of a job that is started again, and waits where a test wants it to.
 *
 *   lives FOLDER [STATUS [FAULT [WORD]]]
 *
 * A file gate-PLACE-LIFE-RANK in FOLDER holds the rank up: `before` MPI_Init or `in` MPI. Each rank
 * leaves pid-LIFE-RANK before, in-LIFE-RANK behind MPI_Init, with its id and host; and `overlap`,
 * if a process of an earlier life is still there when it begins. Rank 0 reads stdin to its end and
 * says so. FAULT of rank 1: `segv` or `exit`, in MPI; `early`, it exits before; `abort`, it calls
 * MPI_Abort. STATUS is what all end with, behind MPI_Finalize, and that of these.
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char* folder;
static int life, rank;

static void touch(const char* place, int number) {
  char name[4096];
  snprintf(name, sizeof name, "%s/%s-%d-%d", folder, place, life, rank);
  char host[256] = {0};
  gethostname(host, sizeof host - 1);
  FILE* file = fopen(name, "w");
  if (file == NULL || fprintf(file, "%d %s\n", number, host) < 0 || fclose(file) != 0) exit(90);
}

static void wait_at(const char* place) {
  char name[4096];
  snprintf(name, sizeof name, "%s/gate-%s-%d-%d", folder, place, life, rank);
  while (access(name, F_OK) == 0) usleep(5000);
}

/* A process that has ended is not there, though nobody may have waited for it, nor one whose first
 * thread the kernel is ending. */
static int is_there(int pid) {
  char name[64], state = 'Z';
  unsigned flags = 0;
  const unsigned exiting = 0x4;
  snprintf(name, sizeof name, "/proc/%d/stat", pid);
  FILE* file = fopen(name, "r");
  if (file == NULL) return 0;
  const int found = fscanf(file, "%*d %*s %c %*d %*d %*d %*d %*d %u", &state, &flags);
  fclose(file);
  return found == 2 && state != 'Z' && state != 'X' && (flags & exiting) == 0;
}

static void look_for_earlier(void) {
  char name[4096];
  for (int before = 0; before < life; ++before)
    for (int peer = 0; peer < 64; ++peer) {
      int pid = 0;
      snprintf(name, sizeof name, "%s/pid-%d-%d", folder, before, peer);
      FILE* file = fopen(name, "r");
      if (file == NULL) continue;
      if (fscanf(file, "%d", &pid) == 1 && is_there(pid)) touch("overlap", pid);
      fclose(file);
    }
}

static long bytes_of_input(void) {
  long count = 0;
  while (getchar() != EOF) ++count;
  return count;
}

int main(int count, char** words) {
  folder = words[1];
  const int status = count > 2 ? atoi(words[2]) : 0;
  const char* fault = count > 3 ? words[3] : "none";
  life = atoi(getenv("RESPROUT_RESTART"));
  const char* number = getenv("OMPI_COMM_WORLD_RANK");
  rank = atoi(number != NULL ? number : getenv("PMI_RANK"));
  const int stands_by = getenv("RESPROUT_STANDBY") != NULL;
  if (!stands_by) look_for_earlier();
  touch("pid", (int)getpid());
  wait_at("before");
  const int is_faulty = rank == 1;
  if (is_faulty && strcmp(fault, "early") == 0) exit(status);
  MPI_Init(&count, &words);
  const char* kept = getenv("RESPROUT_RESTART");
  if (kept == NULL || atoi(kept) != life) return 91;
  if (stands_by) look_for_earlier();
  touch("in", (int)getpid());
  const long bytes = rank == 0 ? bytes_of_input() : 0;
  wait_at("in");
  if (is_faulty && strcmp(fault, "segv") == 0) raise(SIGSEGV);
  if (is_faulty && strcmp(fault, "exit") == 0) exit(status);
  if (is_faulty && strcmp(fault, "abort") == 0) MPI_Abort(MPI_COMM_WORLD, status);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) printf("life %d %s read %ld\n", life, count > 4 ? words[4] : "-", bytes);
  MPI_Finalize();
  return status;
}
