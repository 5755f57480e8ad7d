// What is preloaded into Open MPI's launcher, so that it is known how the ranks of its host ended.
//
// The launcher is their parent, and lets them die without a word. A process cannot say of itself
// what the kernel ends it by: its handler may be another one by then, or blocked. So each end that
// the launcher hears of is a line of the file `ended` in the run directory:
//
//   PID exit STATUS
//   PID signal NUMBER
//
// Thread rule: from any thread.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>

namespace {

void leave_end(pid_t pid, int status) {
  const char* directory = std::getenv("RESPROUT_RUN_DIR");
  char path[PATH_MAX];
  const int length =
      directory == nullptr ? -1 : std::snprintf(path, sizeof path, "%s/ended", directory);
  if (length < 0 || static_cast<std::size_t>(length) >= sizeof path) return;
  const int file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file < 0) return;
  const bool is_killed = WIFSIGNALED(status);
  dprintf(file, "%d %s %d\n", static_cast<int>(pid), is_killed ? "signal" : "exit",
          is_killed ? WTERMSIG(status) : WEXITSTATUS(status));
  close(file);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) pid_t waitpid(pid_t pid, int* status,
                                                                int options) {
  using Wait = pid_t (*)(pid_t, int*, int);
  static const auto theirs = reinterpret_cast<Wait>(dlsym(RTLD_NEXT, "waitpid"));
  int own = 0;
  int* const found = status != nullptr ? status : &own;
  const pid_t ended = theirs(pid, found, options);
  if (ended > 0 && (WIFEXITED(*found) || WIFSIGNALED(*found))) {
    const int before = errno;
    leave_end(ended, *found);
    errno = before;
  }
  return ended;
}
