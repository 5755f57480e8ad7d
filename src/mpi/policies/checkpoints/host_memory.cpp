#include "mpi/policies/checkpoints/host_memory.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>

namespace resprout::shim {
namespace {

constexpr const char* host_mark = "%h";
constexpr int lock_of_child = 3;

// A launcher touches its sign every minute. One that has not for half an hour was killed.
constexpr const char* script =
    "while [ -n \"$(find \"$1\" -mmin -30 2>/dev/null)\" ]; do sleep 1; done; rm -rf \"$2\"";

// REQUIRES: in a child of a process that may have had threads, so no memory is allocated here.
[[noreturn]] void become_watcher(int lock, char* const* words) {
  char* const nothing[] = {const_cast<char*>("PATH=/usr/bin:/bin"), nullptr};
  setsid();
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  const int null = open("/dev/null", O_RDWR);
  for (int stream = 0; stream <= 2; ++stream) dup2(null, stream);
  if (lock != lock_of_child) dup2(lock, lock_of_child);
  fcntl(lock_of_child, F_SETFD, 0);
  // What waits for the rank's ends of pipes must not wait for this.
  if (syscall(SYS_close_range, lock_of_child + 1, ~0U, 0) != 0)
    for (int other = lock_of_child + 1; other < 4096; ++other) close(other);
  if (chdir("/") == 0) execve("/bin/sh", words, nothing);
  _exit(127);
}

}  // namespace

bool is_for_several_hosts(const std::string& pattern) {
  return pattern.find(host_mark) != std::string::npos;
}

std::string folder_on_this_host(const std::string& pattern) {
  std::string folder = pattern;
  if (!is_for_several_hosts(pattern)) return folder;
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  return folder.replace(folder.find(host_mark), 2, host.data());
}

std::string sign_of_life(const std::string& run_directory) {
  return std::filesystem::path(run_directory).parent_path() / "alive";
}

int make_folder(const std::string& folder) {
  return mkdir(folder.c_str(), 0700) == 0 || errno == EEXIST ? 0 : errno;
}

bool watch_over(const std::string& folder, const std::string& sign) {
  const int lock = open((folder + "/.owner").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (lock < 0) return false;
  if (flock(lock, LOCK_EX | LOCK_NB) != 0) {
    close(lock);
    return true;
  }
  char* const words[] = {const_cast<char*>("sh"),
                         const_cast<char*>("-c"),
                         const_cast<char*>(script),
                         const_cast<char*>("resprout-memory"),
                         const_cast<char*>(sign.c_str()),
                         const_cast<char*>(folder.c_str()),
                         nullptr};
  // Its parent ends at once: a program waits for its own children only.
  const pid_t child = fork();
  if (child == 0) {
    if (fork() == 0) become_watcher(lock, words);
    _exit(0);
  }
  close(lock);
  int status = 0;
  return child > 0 && waitpid(child, &status, 0) == child;
}

}  // namespace resprout::shim
