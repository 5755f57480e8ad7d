#include "runtime/death_marks/process.hpp"

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
namespace {

constexpr unsigned long long signaled_flag = 0x400;  // PF_SIGNALED of the kernel

}  // namespace

std::optional<ProcessStatus> process_status(pid_t pid) {
  const Fd fd(open(("/proc/" + std::to_string(pid) + "/stat").c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 1024> text;
  const ssize_t length = fd.is_open() ? read(fd.get(), text.data(), text.size() - 1) : 0;
  if (length <= 0) return std::nullopt;
  text[static_cast<std::size_t>(length)] = 0;
  // Field 2, the name, may contain anything; behind its last parenthesis come fields 3, 4, …
  const char* at = std::strrchr(text.data(), ')');
  if (at == nullptr || at[1] == 0 || at[2] == 0) return std::nullopt;
  std::array<const char*, 32> field{};  // by their numbers in proc(5)
  field[3] = at + 2;
  for (std::size_t i = 4; i < field.size(); ++i) {
    field[i] = std::strchr(field[i - 1], ' ');
    if (field[i] == nullptr) return std::nullopt;
    ++field[i];
  }
  const auto number = [&](std::size_t i) { return std::strtoull(field[i], nullptr, 10); };
  // Its first thread has been told to end, or has begun to.
  const bool is_killed = (number(31) >> (SIGKILL - 1) & 1) != 0 || (number(9) & signaled_flag) != 0;
  return ProcessStatus{*field[3], number(22), is_killed};
}

Fd open_process(pid_t pid) { return Fd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0))); }

bool end_process(const Fd& pidfd, pid_t pid) {
  const long result = pidfd.is_open()
                          ? syscall(SYS_pidfd_send_signal, pidfd.get(), SIGKILL, nullptr, 0)
                          : kill(pid, SIGKILL);
  return result == 0 || errno == ESRCH;
}

}  // namespace resprout::runtime
