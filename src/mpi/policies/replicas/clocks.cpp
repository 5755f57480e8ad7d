#include "mpi/policies/replicas/clocks.hpp"

#include <sys/resource.h>
#include <sys/time.h>
#include <sys/times.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string_view>

#include "mpi/policies/replicas/system_answers.hpp"

namespace resprout::shim {
namespace {

constexpr std::int64_t second_ns = 1'000'000'000;
constexpr std::int64_t reading_ns = 1000;  // so far time goes by with each, before MPI_Init

constinit Answers clock_answers("a clock in a thread", Answers::IfMultiple::own);
std::int64_t begin_real_ns = 0;
std::int64_t begin_monotonic_ns = 0;
std::int64_t readings = 0;
std::atomic<std::int64_t> read_ns{0};  // on CLOCK_MONOTONIC, the last time

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
  if (code != 0) return code;
  *time = clock_answers.answer(*time, caller, [&] { return standing_clock(clock); });
  if (clock == CLOCK_MONOTONIC && clock_answers.whose_for(caller) != Whose::own)
    read_ns.store(time->tv_sec * second_ns + time->tv_nsec, std::memory_order_relaxed);
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
  clock_answers.begin();
}

}  // namespace

void open_clocks() { clock_answers.open(); }
void close_clocks() { clock_answers.close(); }

}  // namespace resprout::shim

using namespace resprout::shim;

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
  const Times times = clock_answers.answer(own, RESPROUT_CALLER, [] { return Times{}; });
  if (used != nullptr) *used = times.used;
  return times.passed;
}

extern "C" int getrusage(int who, rusage* usage) {
  static std::atomic<int (*)(int, rusage*)> found{nullptr};
  const int code = behind(found, "getrusage")(who, usage);
  if (code == 0) *usage = clock_answers.answer(*usage, RESPROUT_CALLER, [] { return rusage{}; });
  return code;
}

// Until a moment of the clock that the program has read, which may be that of another host: for as
// long as is left by what was read last.
extern "C" int clock_nanosleep(clockid_t clock, int flags, const timespec* until, timespec* left) {
  static std::atomic<int (*)(clockid_t, int, const timespec*, timespec*)> found{nullptr};
  const bool is_alike = (flags & TIMER_ABSTIME) != 0 && clock == CLOCK_MONOTONIC;
  const std::int64_t seen_ns = read_ns.load(std::memory_order_relaxed);
  if (!is_alike || seen_ns == 0 || clock_answers.whose_for(RESPROUT_CALLER) == Whose::own)
    return behind(found, "clock_nanosleep")(clock, flags, until, left);
  const std::int64_t wait_ns = until->tv_sec * second_ns + until->tv_nsec - seen_ns;
  if (wait_ns <= 0) return 0;
  const timespec wait = from_ns(wait_ns);
  return behind(found, "clock_nanosleep")(clock, 0, &wait, nullptr);
}
