#include "mpi/lifecycle/standby.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <string_view>

namespace resprout::shim {
namespace {

// On another host nobody hears of the pipe's end.
constexpr int look_ms = 20;

// Until nobody writes to the pipe, or it is time for a look. Whether it may be waited for again.
bool wait_for_end(int pipe) {
  pollfd end{pipe, POLLIN, 0};
  return poll(&end, 1, look_ms) <= 0;
}

// What a host knows of a folder that others write to may be old; that is asked for anew when the
// folder is opened.
bool is_there(const std::string& folder, const std::string& name) {
  const int asked = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (asked >= 0) close(asked);
  return access((folder + "/" + name).c_str(), F_OK) == 0;
}

}  // namespace

bool stands_by(char** environment) {
  for (char** entry = environment; *entry != nullptr; ++entry)
    if (std::string_view(*entry) == "RESPROUT_STANDBY=1") return true;
  return false;
}

void wait_until_needed(const std::string& run_directory) {
  int pipe = open((run_directory + "/gate").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  const auto let_go = [&pipe] {
    if (pipe >= 0) close(pipe);
    pipe = -1;
  };
  // Looked at behind open(), so that no end before it is missed.
  while (!is_there(run_directory, "needed")) {
    if (pipe < 0)
      usleep(look_ms * 1000);
    else if (!wait_for_end(pipe))
      let_go();
  }
  let_go();
}

}  // namespace resprout::shim
