#include "mpi/process/report/own_time.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <utility>

namespace resprout::shim {

// /proc/PID/task/TID/schedstat: time on a core, time in which it waited for one, in nanoseconds.
std::int64_t OwnTime::waited_longest() {
  std::int64_t longest = 0;
  std::map<std::string, std::int64_t> now;
  std::error_code gone;
  std::filesystem::directory_iterator tasks(process_ + "/task", gone);
  for (; !gone && tasks != std::filesystem::directory_iterator(); tasks.increment(gone)) {
    std::int64_t ran = 0;
    std::int64_t waited = 0;
    if (!(std::ifstream(tasks->path() / "schedstat") >> ran >> waited)) continue;
    const std::string name = tasks->path().filename();
    if (const auto before = waited_.find(name); before != waited_.end())
      longest = std::max(longest, waited - before->second);
    now[name] = waited;
  }
  waited_ = std::move(now);
  return longest;
}

// By a debugger; or its main thread waits for a disk.
bool OwnTime::is_held() const {
  std::ifstream status(process_ + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("State:") && line.find("D (") != std::string::npos) return true;
    if (line.starts_with("TracerPid:")) return line.find_first_of("123456789") != std::string::npos;
  }
  return false;
}

std::int64_t OwnTime::of(std::int64_t elapsed_ns) {
  const std::int64_t waited = waited_longest();
  return is_held() ? 0 : std::max<std::int64_t>(0, elapsed_ns - waited);
}

}  // namespace resprout::shim
