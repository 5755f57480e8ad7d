// Has it known how the processes of the launcher's host ended.
//
// The launcher is their parent, and lets them die without a word. A process cannot say of itself
// what the kernel ends it by: its handler may be another one by then, or blocked. So each end that
// the launcher hears of is left for the report (ends.hpp).
#include <dlfcn.h>
#include <sys/wait.h>

#include <cerrno>

#include "launcher/ends.hpp"

extern "C" __attribute__((visibility("default"))) pid_t waitpid(pid_t pid, int* status,
                                                                int options) {
  using Wait = pid_t (*)(pid_t, int*, int);
  static const auto theirs = reinterpret_cast<Wait>(dlsym(RTLD_NEXT, "waitpid"));
  int own = 0;
  int* const found = status != nullptr ? status : &own;
  const pid_t ended = theirs(pid, found, options);
  if (ended > 0 && (WIFEXITED(*found) || WIFSIGNALED(*found))) {
    const int before = errno;
    resprout::launcher::leave_end(ended, *found);
    errno = before;
  }
  return ended;
}
