/* This process is killed, whatever it is in by then. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static inline void die_after(long microseconds) {
  struct sigevent event;
  struct itimerspec when;
  timer_t timer;
  memset(&event, 0, sizeof event);
  memset(&when, 0, sizeof when);
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = SIGKILL;
  when.it_value.tv_sec = microseconds / 1000000;
  when.it_value.tv_nsec = microseconds % 1000000 * 1000 + 1;
  if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0 ||
      timer_settime(timer, 0, &when, NULL) != 0)
    abort();
}
