#include "mpi/policies/replicas/system_answers.hpp"

#include <mpi.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <string_view>

#include "mpi/policies/replicas/decided.hpp"
#include "mpi/process/fast_thread_local.hpp"
#include "mpi/process/inside_call.hpp"

namespace resprout::shim {
namespace {

pid_t process = 0;  // of the program, and not of what it has forked
// That of the program, or of what it has forked.
constinit RESPROUT_FAST_THREAD_LOCAL bool is_main = false;
std::atomic<bool> has_threads{false};
std::atomic<bool> allows_threads{true};  // not with MPI_THREAD_MULTIPLE

std::string_view file_of(const void* caller) {
  Dl_info where{};
  if (dladdr(caller, &where) == 0 || where.dli_fname == nullptr) return {};
  std::string_view file = where.dli_fname;
  file.remove_prefix(file.rfind('/') + 1);
  return file;
}

// The MPI library and what it stands on, and ourselves.
bool is_of_library(const void* caller) {
  constexpr std::array<std::string_view, 17> names{
      "libresprout", "libmpi",  "libopen-", "libpmix", "libprrte", "libevent",
      "libhwloc",    "libucp",  "libucs",   "libuct",  "libucm",   "libfabric",
      "libpsm",      "libibve", "librdma",  "libmca",  "mca_"};
  const std::string_view file = file_of(caller);
  for (const std::string_view name : names)
    if (file.starts_with(name)) return true;
  return false;
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

}  // namespace

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

void Answers::begin() {
  process = real_pid();
  is_main = true;
  begin_undecided();
  whose_.store(Whose::stands);
}

void Answers::open() {
  if (is_own()) return;
  int level = MPI_THREAD_SINGLE;
  int is_main_of_mpi = 0;
  PMPI_Query_thread(&level);
  PMPI_Is_thread_main(&is_main_of_mpi);
  allows_threads.store(level != MPI_THREAD_MULTIPLE);
  const bool is_one_thread = allows_threads.load() || !has_threads.load();
  whose_.store(is_one_thread && is_main_of_mpi != 0 && is_main ? Whose::decided : Whose::own);
}

Whose Answers::whose_for(const void* caller) {
  const Whose now = whose_.load(std::memory_order_relaxed);
  if (now == Whose::own || InsideCall::is_any()) return Whose::own;
  // MPI reads a clock whenever it looks for messages: the system is asked last.
  const bool is_in_thread =
      !is_main || (now == Whose::decided && has_threads.load() && !allows_threads.load());
  if (is_in_thread) return in_thread_.note(caller), Whose::own;
  return is_program(caller) && real_pid() == process ? now : Whose::own;
}

void Answers::decide(std::span<std::byte> own) {
  const InsideCall inside;
  if (Decided* by = decided.load(std::memory_order_acquire)) by->clock(own);
}

}  // namespace resprout::shim

using namespace resprout::shim;

extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                              void* (*run)(void*), void* with) {
  static std::atomic<int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*)> found{
      nullptr};
  const void* const caller = RESPROUT_CALLER;
  if (!has_threads.load(std::memory_order_relaxed) && program_pid() != 0 && !InsideCall::is_any() &&
      is_program(caller) && makes_threads(caller))
    has_threads.store(true);
  return behind(found, "pthread_create")(thread, attributes, run, with);
}
