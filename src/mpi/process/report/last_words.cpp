#include "mpi/process/report/last_words.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>

#include "core/invariant.hpp"

namespace resprout::shim {

const char* rank_in_environment() {
  constexpr const char* names[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK"};
  for (const char* name : names)
    if (const char* rank = getenv(name)) return rank;
  return nullptr;
}

namespace {

pid_t own_pid = 0;  // 0: this is not a rank's own process
char path[4096];
char signal_path[4096];
char started_path[4096];

// False: it is too long.
bool make_path(char (&made)[4096], const char* directory, const char* what, const char* rank) {
  const int length = std::snprintf(made, sizeof made, "%s/%s-%s", directory, what, rank);
  return length >= 0 && static_cast<std::size_t>(length) < sizeof made;
}

// What started-<rank> says, or 0.
pid_t started_pid(const char* directory, const char* rank) {
  if (!make_path(started_path, directory, "started", rank)) return 0;
  const int fd = open(started_path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  char digits[24] = {};
  const ssize_t bytes = read(fd, digits, sizeof digits - 1);
  close(fd);
  return bytes > 0 ? static_cast<pid_t>(strtol(digits, nullptr, 10)) : 0;
}

[[gnu::constructor]] void watch_the_end() {
  const char* directory = getenv("RESPROUT_RUN_DIR");
  const char* rank = rank_in_environment();
  if (directory == nullptr || rank == nullptr) return;
  if (started_pid(directory, rank) != getpid()) return;
  if (!make_path(path, directory, "exit", rank)) return;
  if (!make_path(signal_path, directory, "signal", rank)) return;
  own_pid = getpid();
  on_exit([](int status, void*) { leave_status(status); }, nullptr);
}

struct Line {
  explicit Line(int number) {
    const auto code = static_cast<unsigned>(number) & 0xffu;
    digits[0] = static_cast<char>('0' + code / 100);
    digits[1] = static_cast<char>('0' + code / 10 % 10);
    digits[2] = static_cast<char>('0' + code % 10);
  }
  char digits[4] = {0, 0, 0, '\n'};
};

// Async-signal-safe.
bool leave(const char* name, int flags, const char (&digits)[4]) {
  const int fd = open(name, O_WRONLY | O_CLOEXEC | flags, 0666);
  if (fd < 0) return false;
  const bool is_written = write(fd, digits, sizeof digits) == sizeof digits;
  return close(fd) == 0 && is_written;
}

}  // namespace

void leave_status(int status) {
  if (own_pid == 0 || getpid() != own_pid) return;
  const Line line(status);
  if (leave(path, O_CREAT | O_TRUNC, line.digits)) return;
  unlink(path);
  // Of a file that is there the rest of a block can be written even if the disk is full.
  leave(started_path, O_APPEND, line.digits);
}

void leave_signal(int signal) {
  if (own_pid == 0 || getpid() != own_pid) return;
  if (!leave(signal_path, O_CREAT | O_TRUNC, Line(signal).digits)) unlink(signal_path);
}

}  // namespace resprout::shim

void resprout::say_broken(const char* condition, const char* file, int line) {
  const char* rank = shim::rank_in_environment();
  dprintf(STDERR_FILENO,
          "resprout: rank %s ends by a defect of Resprout: at %s:%d this does not hold: %s\n",
          rank == nullptr ? "?" : rank, file, line, condition);
}
