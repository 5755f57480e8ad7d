#include "launcher/ends.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <climits>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace resprout::launcher {
namespace {

void leave(const std::string& who, bool is_killed, int number) {
  const char* directory = std::getenv("RESPROUT_RUN_DIR");
  if (directory == nullptr) return;
  const std::string path = std::string(directory) + "/ended";
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file < 0) return;
  dprintf(file, "%s %s %d\n", who.c_str(), is_killed ? "signal" : "exit", number);
  close(file);
}

}  // namespace

void leave_end(pid_t pid, int status) {
  const bool is_killed = WIFSIGNALED(status);
  leave(std::to_string(pid), is_killed, is_killed ? WTERMSIG(status) : WEXITSTATUS(status));
}

void leave_end_of_rank(std::uint32_t rank, int exit_code, bool is_killed) {
  constexpr int first_signal = 128;
  const bool is_signal = is_killed && exit_code > first_signal;
  leave("rank " + std::to_string(rank), is_signal,
        is_signal ? exit_code - first_signal : exit_code);
}

}  // namespace resprout::launcher
