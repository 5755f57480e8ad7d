#include "mpi/lifecycle/leaving.hpp"

#include <dlfcn.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "mpi/process/report/last_words.hpp"
#include "mpi/process/world.hpp"

namespace resprout::shim {
namespace {

pid_t watched = 0;  // a forked child is not a rank
bool is_in_finalize = false;

bool is_leaving_early() {
  return (World::current() != nullptr || is_in_finalize) && getpid() == watched;
}

void die() {
  std::fflush(nullptr);
  kill(getpid(), SIGKILL);
}

void end_by_exit(int status, void*) {
  if (!is_leaving_early()) return;
  leave_status(status);
  die();
}

// Handlers that are registered while libraries are loaded come after all others, and after the
// destructors of libraries; an `atexit` of ours would be among these.
[[gnu::constructor]] void be_the_last_to_hear_of_the_end() {
  on_exit(end_by_exit, nullptr);
  at_quick_exit([] {
    if (is_leaving_early()) die();
  });
}

}  // namespace

void watch_for_leaving() { watched = getpid(); }
void note_in_finalize(bool is_inside) { is_in_finalize = is_inside; }

}  // namespace resprout::shim

extern "C" void quick_exit(int status) noexcept {
  using Exit = void (*)(int);
  resprout::shim::leave_status(status);
  static const auto theirs = reinterpret_cast<Exit>(dlsym(RTLD_NEXT, "quick_exit"));
  theirs(status);
  __builtin_unreachable();
}

extern "C" void _exit(int status) {
  resprout::shim::leave_status(status);
  if (resprout::shim::is_leaving_early()) kill(getpid(), SIGKILL);
  for (;;) syscall(SYS_exit_group, status);
}

extern "C" void _Exit(int status) noexcept { _exit(status); }
