#include "mpi/policies/replicas/program_calls.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <string_view>

#include "mpi/process/fast_thread_local.hpp"

// Where this library begins and ends, by names of the linker.
// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming)
extern "C" {
[[gnu::visibility("hidden")]] extern const char __ehdr_start;
[[gnu::visibility("hidden")]] extern const char _end;
}
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)

namespace resprout::shim {
namespace {

pid_t process = 0;  // of the program, and not of what it has forked
// That of the program, or of what it has forked.
constinit RESPROUT_FAST_THREAD_LOCAL bool is_main = false;

std::string_view file_of(const void* caller) {
  Dl_info where{};
  if (dladdr(caller, &where) == 0 || where.dli_fname == nullptr) return {};
  std::string_view file = where.dli_fname;
  file.remove_prefix(file.rfind('/') + 1);
  return file;
}

// Asks nobody: the program may have stopped for good inside the dynamic linker, whose lock it then
// holds.
bool is_own(const void* caller) {
  const auto place = reinterpret_cast<std::uintptr_t>(caller);
  return place >= reinterpret_cast<std::uintptr_t>(&__ehdr_start) &&
         place < reinterpret_cast<std::uintptr_t>(&_end);
}

// The MPI library and what it stands on, and ourselves.
bool is_of_library(const void* caller) {
  if (is_own(caller)) return true;
  constexpr std::array<std::string_view, 17> names{
      "libresprout", "libmpi",  "libopen-", "libpmix", "libprrte", "libevent",
      "libhwloc",    "libucp",  "libucs",   "libuct",  "libucm",   "libfabric",
      "libpsm",      "libibve", "librdma",  "libmca",  "mca_"};
  const std::string_view file = file_of(caller);
  for (const std::string_view name : names)
    if (file.starts_with(name)) return true;
  return false;
}

}  // namespace

void note_program() {
  process = real_pid();
  is_main = true;
}

// The program itself, or what starts threads for it; other libraries' threads ask for nothing that
// it sends.
bool makes_threads(const void* caller) {
  Dl_info where{};
  if (dladdr(caller, &where) == 0 || where.dli_fname == nullptr) return true;
  Dl_info own{};
  static const void* const entry = dlsym(RTLD_DEFAULT, "main");
  const bool is_known = entry != nullptr && dladdr(entry, &own) != 0;
  if (is_known && own.dli_fbase == where.dli_fbase) return true;
  const std::string_view file = file_of(caller);
  return file.find('.') == std::string_view::npos || file.starts_with("libpython") ||
         file.starts_with("python") || file.starts_with("libstdc++");
}

bool is_main_thread() { return is_main; }
pid_t real_pid() { return static_cast<pid_t>(syscall(SYS_getpid)); }
pid_t program_pid() { return process; }

// Looked up once for each place: an odd number is a place of the program.
bool is_program(const void* caller) {
  static std::array<std::atomic<std::uintptr_t>, 64> known{};
  const auto place = reinterpret_cast<std::uintptr_t>(caller);
  std::atomic<std::uintptr_t>& one = known[place >> 2 & (known.size() - 1)];
  std::uintptr_t found = one.load(std::memory_order_relaxed);
  if (found >> 1 != place) {
    found = place << 1 | static_cast<std::uintptr_t>(!is_of_library(caller));
    one.store(found, std::memory_order_relaxed);
  }
  return (found & 1) != 0;
}

}  // namespace resprout::shim
