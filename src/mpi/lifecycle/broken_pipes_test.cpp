#include "mpi/lifecycle/broken_pipes.hpp"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "doctest/doctest.h"

using namespace resprout::shim;

namespace {

// How a process ends that does this: as waitpid says.
template <typename What>
int end_of(What what) {
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGPIPE, SIG_DFL);
    what();
    _exit(0);
  }
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child);
  return status;
}

// Ends with 7 if that is an error and nothing else.
void write_to_nobody() {
  int ends[2];
  if (pipe(ends) != 0) _exit(1);
  close(ends[0]);
  if (write(ends[1], "", 1) < 0 && errno == EPIPE) _exit(7);
}

bool ends_with(int status, int code) { return WIFEXITED(status) && WEXITSTATUS(status) == code; }
bool dies_of_pipe(int status) { return WIFSIGNALED(status) && WTERMSIG(status) == SIGPIPE; }

}  // namespace

TEST_CASE("broken pipes: a write to nobody is an error, and ended the process before") {
  CHECK(dies_of_pipe(end_of(write_to_nobody)));
  const int status = end_of([] {
    bear_broken_pipes();
    write_to_nobody();
  });
  CHECK(ends_with(status, 7));
}

TEST_CASE("broken pipes: what the program has said of SIGPIPE stays") {
  const int status = end_of([] {
    signal(SIGPIPE, [](int) { _exit(8); });
    bear_broken_pipes();
    write_to_nobody();
  });
  CHECK(ends_with(status, 8));
}

TEST_CASE("broken pipes: a program that is started begins with the default") {
  const int status = end_of([] {
    bear_broken_pipes();
    execl("/bin/sh", "sh", "-c", "kill -PIPE $$", nullptr);
  });
  CHECK(dies_of_pipe(status));
}
