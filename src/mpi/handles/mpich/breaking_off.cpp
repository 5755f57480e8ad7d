#include "mpi/handles/mpich/breaking_off.hpp"

#include <dlfcn.h>
#include <setjmp.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>

#include "mpi/handles/mpich/spinning.hpp"
#include "mpi/process/fast_thread_local.hpp"
#include "mpi/process/world.hpp"
#include "runtime/net/clock.hpp"

namespace resprout::shim {
namespace {

struct Breakable {
  detail::HasLost has_lost;
  jmp_buf begin;
};

// What this thread is in. What the program does in a call-back from there is inside of it, too, but
// yields from elsewhere.
RESPROUT_FAST_THREAD_LOCAL Breakable* current = nullptr;

constexpr std::int64_t look_ns = 5'000'000;

struct Killed {
  std::string path;  // of the launcher's notes
  std::int64_t next_look_ns = 0;
  bool is_found = false;
};

// Never destroyed: MPI_Finalize may come after all exit handlers.
Killed& killed() {
  static auto* instance = new Killed;
  return *instance;
}

// A line of the notes is "PID signal NUMBER" or "PID exit STATUS" (python/resprout/report/ends.py).
bool is_any_killed(const std::string& path) {
  std::FILE* notes = std::fopen(path.c_str(), "re");
  if (notes == nullptr) return false;
  char line[128];
  bool is_found = false;
  while (!is_found && std::fgets(line, sizeof line, notes) != nullptr)
    is_found = std::strstr(line, " signal ") != nullptr;
  std::fclose(notes);
  return is_found;
}

bool is_in_library(void* address) {
  static void* const library = [] {
    Dl_info info;
    return dladdr(reinterpret_cast<void*>(&PMPI_Init), &info) != 0 ? info.dli_fbase : nullptr;
  }();
  Dl_info info;
  return library != nullptr && dladdr(address, &info) != 0 && info.dli_fbase == library;
}

// `caller`: who yields.
void leave_if_lost(void* caller) {
  Breakable* const breakable = current;
  if (breakable == nullptr || !breakable->has_lost() || !is_in_library(caller)) return;
  _longjmp(breakable->begin, 1);
}

}  // namespace

namespace detail {

bool has_lost_in_world() {
  const World* world = World::current();
  return world != nullptr && world->lost_count() != 0;
}

void look_for_killed_in(const char* run_directory) {
  const std::string directory = run_directory;
  killed().path = directory.empty() ? "" : directory + "/ended";
}

bool has_noted_killed() {
  Killed& it = killed();
  const std::int64_t now_ns = runtime::monotonic_ns();
  if (it.is_found || it.path.empty() || now_ns < it.next_look_ns) return it.is_found;
  it.next_look_ns = now_ns + look_ns;
  it.is_found = is_any_killed(it.path);
  return it.is_found;
}

bool run_unless(HasLost has_lost, void (*run)(void*), void* of) {
  Breakable breakable{has_lost, {}};
  Breakable* const outer = current;
  const bool is_whole = _setjmp(breakable.begin) == 0;
  if (is_whole) {
    current = &breakable;
    run(of);
  }
  current = outer;
  return is_whole;
}

bool run_unless_killed(void (*run)(void*), void* of) {
  const SpinWatch watch(reinterpret_cast<void*>(&PMPI_Init), [] {
    if (current != nullptr && current->has_lost()) _longjmp(current->begin, 1);
  });
  return run_unless(has_noted_killed, run, of);
}

}  // namespace detail
}  // namespace resprout::shim

using namespace resprout::shim;

// By these the libraries yield: MPICH by the first, Intel MPI by either.
extern "C" int sched_yield() noexcept {
  leave_if_lost(__builtin_return_address(0));
  return static_cast<int>(syscall(SYS_sched_yield));
}

extern "C" int usleep(useconds_t us) {
  leave_if_lost(__builtin_return_address(0));
  constexpr useconds_t us_per_s = 1'000'000;
  const timespec time{static_cast<time_t>(us / us_per_s), static_cast<long>(us % us_per_s) * 1000};
  return nanosleep(&time, nullptr);
}
