/* Says when each rank is through MPI_Init: `in LIFE PID NANOSECONDS`, of the system's clock.
 *
 * In the first life of a job that is started again it waits then, to be killed; else it ends.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

int main(int count, char** words) {
  const char* life = getenv("RESPROUT_RESTART");
  const int waits = life != NULL && life[0] == '0';
  MPI_Init(&count, &words);
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  printf("in %s %d %lld\n", waits ? "0" : "1", (int)getpid(),
         (long long)now.tv_sec * 1000000000LL + now.tv_nsec);
  fflush(stdout);
  if (waits)
    for (;;) pause();
  MPI_Finalize();
  return 0;
}
