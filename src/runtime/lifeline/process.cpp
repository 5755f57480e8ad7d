#include "runtime/lifeline/process.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

namespace resprout::runtime {

std::optional<ProcessStatus> process_status(pid_t pid) {
  const Fd fd(open(("/proc/" + std::to_string(pid) + "/stat").c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 1024> text;
  const ssize_t length = fd.is_open() ? read(fd.get(), text.data(), text.size() - 1) : 0;
  if (length <= 0) return std::nullopt;
  text[static_cast<std::size_t>(length)] = 0;
  // Field 2, the name, may contain anything; behind its last parenthesis come fields 3, 4, …
  const char* at = std::strrchr(text.data(), ')');
  if (at == nullptr || at[1] == 0 || at[2] == 0) return std::nullopt;
  at += 2;
  const char state = *at;
  for (int field = 3; field < 22 && at != nullptr; ++field) {
    at = std::strchr(at, ' ');
    if (at != nullptr) ++at;
  }
  if (at == nullptr) return std::nullopt;
  return ProcessStatus{state, std::strtoull(at, nullptr, 10)};
}

Fd open_process(pid_t pid) { return Fd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0))); }

bool end_process(const Fd& pidfd, pid_t pid) {
  const long result = pidfd.is_open()
                          ? syscall(SYS_pidfd_send_signal, pidfd.get(), SIGKILL, nullptr, 0)
                          : kill(pid, SIGKILL);
  return result == 0 || errno == ESRCH;
}

}  // namespace resprout::runtime
