#include "mpi/lifecycle/standby.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

namespace resprout::shim {
namespace {

// Until nobody writes to the pipe. It may be that nobody does.
void wait_for_end(int pipe) {
  pollfd end{pipe, POLLIN, 0};
  while (poll(&end, 1, -1) < 0 && errno == EINTR) {
  }
}

}  // namespace

bool stands_by(char** environment) {
  for (char** entry = environment; *entry != nullptr; ++entry)
    if (std::string_view(*entry) == "RESPROUT_STANDBY=1") return true;
  return false;
}

void wait_until_needed(const std::string& run_directory) {
  const std::string needed = run_directory + "/needed";
  const int pipe = open((run_directory + "/gate").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  // Looked at behind open(), so that no end before it is missed.
  if (pipe >= 0 && access(needed.c_str(), F_OK) != 0) wait_for_end(pipe);
  constexpr useconds_t look_us = 10'000;
  while (access(needed.c_str(), F_OK) != 0) usleep(look_us);
  if (pipe >= 0) close(pipe);
}

}  // namespace resprout::shim
