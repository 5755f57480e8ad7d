#include "mpi/policies/replicas/clocks.hpp"

#include <dlfcn.h>
#include <mpi.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/times.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <span>
#include <string_view>

#include "mpi/policies/replicas/decided.hpp"
#include "mpi/process/fast_thread_local.hpp"
#include "mpi/process/inside_call.hpp"

namespace resprout::shim {
namespace {

constexpr std::int64_t second_ns = 1'000'000'000;
constexpr std::int64_t reading_ns = 1000;  // so far time goes by with each, before MPI_Init

enum class Whose : int {
  own,     // the process's
  stands,  // before MPI_Init
  decided,
};
std::atomic<Whose> whose{Whose::own};
pid_t process = 0;  // of the program, and not of what it has forked
// That of the program, or of what it has forked.
constinit RESPROUT_FAST_THREAD_LOCAL bool is_main_thread = false;
std::int64_t begin_real_ns = 0;
std::int64_t begin_monotonic_ns = 0;
std::int64_t readings = 0;

// What the system has, behind ours.
template <typename Function>
Function* behind(std::atomic<Function*>& found, const char* name) {
  Function* function = found.load(std::memory_order_relaxed);
  if (function == nullptr) {
    function = reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
    found.store(function, std::memory_order_relaxed);
  }
  return function;
}

// The MPI library and what it stands on, and ourselves.
bool is_of_library(const void* caller) {
  constexpr std::array<std::string_view, 17> names{
      "libresprout", "libmpi",  "libopen-", "libpmix", "libprrte", "libevent",
      "libhwloc",    "libucp",  "libucs",   "libuct",  "libucm",   "libfabric",
      "libpsm",      "libibve", "librdma",  "libmca",  "mca_"};
  Dl_info where{};
  if (dladdr(caller, &where) == 0 || where.dli_fname == nullptr) return false;
  std::string_view file = where.dli_fname;
  file.remove_prefix(file.rfind('/') + 1);
  for (const std::string_view name : names)
    if (file.starts_with(name)) return true;
  return false;
}

// Looked up once for each place that reads a clock. REQUIRES: the main thread.
bool is_program(const void* caller) {
  struct Known {
    const void* caller = nullptr;
    bool is_program = false;
  };
  static std::array<Known, 64> known;
  Known& one = known[reinterpret_cast<std::uintptr_t>(caller) >> 2 & (known.size() - 1)];
  if (one.caller != caller) one = {caller, !is_of_library(caller)};
  return one.is_program;
}

// Whose clock it is that is read from there.
Whose whose_for(const void* caller) {
  const Whose now = whose.load(std::memory_order_relaxed);
  if (now == Whose::own || InsideCall::is_any()) return Whose::own;
  // MPI reads a clock whenever it looks for messages: the system is asked last.
  if (!is_main_thread || !is_program(caller) || getpid() != process) return Whose::own;
  return now;
}

// What the program reads there where the process itself has read `value`: that, or what
// `standing()` is before MPI_Init, or what is decided.
template <typename T, typename Standing>
T reading(T value, const void* caller, Standing standing) {
  const Whose now = whose_for(caller);
  if (now == Whose::stands) return standing();
  const InsideCall inside;
  Decided* by = now == Whose::decided ? decided.load(std::memory_order_acquire) : nullptr;
  if (by != nullptr) by->clock(std::as_writable_bytes(std::span(&value, 1)));
  return value;
}

timespec from_ns(std::int64_t ns) { return {ns / second_ns, ns % second_ns}; }

bool is_of_day(clockid_t clock) {
  return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE || clock == CLOCK_TAI;
}
bool is_of_processor(clockid_t clock) {
  return clock == CLOCK_PROCESS_CPUTIME_ID || clock == CLOCK_THREAD_CPUTIME_ID;
}

timespec standing_clock(clockid_t clock) {
  const std::int64_t passed = ++readings * reading_ns;
  if (is_of_processor(clock)) return from_ns(passed);
  return from_ns((is_of_day(clock) ? begin_real_ns : begin_monotonic_ns) + passed);
}

// 0, or -1 and errno.
int read_clock(clockid_t clock, timespec* time, const void* caller) {
  static std::atomic<int (*)(clockid_t, timespec*)> found{nullptr};
  const int code = behind(found, "clock_gettime")(clock, time);
  if (code == 0) *time = reading(*time, caller, [&] { return standing_clock(clock); });
  return code;
}

std::int64_t processor_ns(const void* caller) {
  timespec time{};
  read_clock(CLOCK_PROCESS_CPUTIME_ID, &time, caller);
  return time.tv_sec * second_ns + time.tv_nsec;
}

// RESPROUT_CLOCKS=decided:REALTIME:MONOTONIC, in ns: what the launcher makes of `decided`.
[[gnu::constructor]] void begin_with_standing_clocks() {
  constexpr std::string_view head = "decided:";
  const char* text = getenv("RESPROUT_CLOCKS");
  if (text == nullptr || !std::string_view(text).starts_with(head)) return;
  char* end = nullptr;
  begin_real_ns = std::strtoll(text + head.size(), &end, 10);
  if (*end != ':') return;
  begin_monotonic_ns = std::strtoll(end + 1, nullptr, 10);
  process = getpid();
  is_main_thread = true;
  whose.store(Whose::stands);
}

}  // namespace

void open_clocks() {
  if (whose.load() == Whose::own) return;
  int level = MPI_THREAD_SINGLE;
  int is_main = 0;
  PMPI_Query_thread(&level);
  PMPI_Is_thread_main(&is_main);
  const bool is_one_thread = level != MPI_THREAD_MULTIPLE && is_main != 0 && is_main_thread;
  whose.store(is_one_thread ? Whose::decided : Whose::own);
}

void close_clocks() { whose.store(Whose::own); }

}  // namespace resprout::shim

using namespace resprout::shim;

#define RESPROUT_CALLER __builtin_return_address(0)

extern "C" int clock_gettime(clockid_t clock, timespec* time) {
  return read_clock(clock, time, RESPROUT_CALLER);
}

extern "C" int timespec_get(timespec* time, int base) {
  if (base != TIME_UTC || read_clock(CLOCK_REALTIME, time, RESPROUT_CALLER) != 0) return 0;
  return base;
}

extern "C" int gettimeofday(timeval* time, void* zone) {
  if (zone != nullptr) std::memset(zone, 0, sizeof(struct timezone));
  timespec exact{};
  const int code = read_clock(CLOCK_REALTIME, &exact, RESPROUT_CALLER);
  *time = {exact.tv_sec, exact.tv_nsec / 1000};
  return code;
}

extern "C" time_t time(time_t* seconds) {
  timespec exact{};
  read_clock(CLOCK_REALTIME_COARSE, &exact, RESPROUT_CALLER);
  if (seconds != nullptr) *seconds = exact.tv_sec;
  return exact.tv_sec;
}

extern "C" clock_t clock() { return processor_ns(RESPROUT_CALLER) / (second_ns / CLOCKS_PER_SEC); }

extern "C" clock_t times(tms* used) {
  static std::atomic<clock_t (*)(tms*)> found{nullptr};
  struct Times {
    clock_t passed;
    tms used;
  } own{};
  own.passed = behind(found, "times")(&own.used);
  if (own.passed == static_cast<clock_t>(-1)) return own.passed;
  const Times times = reading(own, RESPROUT_CALLER, [] { return Times{}; });
  if (used != nullptr) *used = times.used;
  return times.passed;
}

extern "C" int getrusage(int who, rusage* usage) {
  static std::atomic<int (*)(int, rusage*)> found{nullptr};
  const int code = behind(found, "getrusage")(who, usage);
  if (code == 0) *usage = reading(*usage, RESPROUT_CALLER, [] { return rusage{}; });
  return code;
}
