#include "mpi/policies/inject/inject.hpp"

#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <thread>

#include "mpi/policies/inject/flips.hpp"
#include "mpi/policies/inject/process_memory.hpp"
#include "mpi/process/report/json.hpp"
#include "mpi/process/report/notes.hpp"
#include "mpi/process/report/report.hpp"
#include "runtime/mutex.hpp"

namespace resprout::shim {
namespace detail {
std::atomic<bool> counts_calls{false};
}  // namespace detail

namespace {

enum class Context { call, timer };

struct Armed {
  std::optional<Notes> notes;
  std::vector<Fault> timed;  // earliest first
  runtime::Mutex mutex;
  std::vector<Fault> counted RESPROUT_GUARDED_BY(mutex);
  // The texts of those that have not fired.
  std::vector<std::string> left RESPROUT_GUARDED_BY(mutex);
  std::map<std::string, std::uint64_t> entries RESPROUT_GUARDED_BY(mutex);
};

// Never destroyed: threads use it until the process ends.
Armed& armed() {
  static auto* instance = new Armed;
  return *instance;
}

void leave_note(const Fault& fault) {
  Json json;
  json.begin_object().key("fault").string(fault.text);
  json.key("fired_ns").number(wall_clock_ns()).end_object();
  armed().notes->add("injected", json);
}

const char* text_of(Fault::Area area) {
  switch (area) {
    case Fault::Area::none:
      break;
    case Fault::Area::process:
      return "library";
    case Fault::Area::stack:
      return "stack";
    case Fault::Area::heap:
      return "heap";
    case Fault::Area::data:
      return "data";
  }
  __builtin_unreachable();
}

// False: there was nothing to flip.
bool flip(const Fault& fault) {
  const std::optional<FlippedBit> flipped = flip_in_process(fault.area, fault.bit);
  if (!flipped) return false;
  Json json;
  json.begin_object().key("fault").string(fault.text).key("rank").number(fault.rank);
  json.key("area").string(text_of(flipped->area));
  json.key("bit").number(static_cast<std::int64_t>(flipped->bit));
  json.key("bytes").number(static_cast<std::int64_t>(flipped->bytes));
  json.key("call").string(fault.call);
  json.key("flipped_ns").number(wall_clock_ns()).end_object();
  armed().notes->add("flipped", json);
  return true;
}

void fire(const Fault& fault, Context context) {
  if (fault.kind == Fault::Kind::flip && !flip(fault)) return;
  {
    const runtime::MutexLock lock(armed().mutex);
    std::vector<std::string>& left = armed().left;
    if (const auto it = std::ranges::find(left, fault.text); it != left.end()) left.erase(it);
  }
  if (fault.kind == Fault::Kind::flip) return;
  leave_note(fault);
  switch (fault.kind) {
    case Fault::Kind::kill:
      kill(getpid(), SIGKILL);
      break;
    case Fault::Kind::stop:
      kill(getpid(), SIGSTOP);
      break;
    case Fault::Kind::exit:
      // A thread that is not the program's cannot run the program's exit handlers safely.
      if (context == Context::timer) _exit(fault.status);
      exit(fault.status);
    case Fault::Kind::flip:
      break;
  }
}

void sleep_until(const timespec& moment) {
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &moment, nullptr) != 0) {
  }
}

void run_timer(timespec start) {
  for (const Fault& fault : armed().timed) {
    const double whole = std::floor(*fault.at_s);
    timespec moment = start;
    moment.tv_sec += static_cast<time_t>(whole);
    moment.tv_nsec += static_cast<long>((*fault.at_s - whole) * 1e9);
    if (moment.tv_nsec >= 1000000000) {
      moment.tv_nsec -= 1000000000;
      ++moment.tv_sec;
    }
    sleep_until(moment);
    fire(fault, Context::timer);
  }
}

// The program's signals are for the program's threads.
void start_timer() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread(run_timer, now).detach();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace

void arm_faults(const Options& options, int rank) {
  Armed& faults = armed();
  const runtime::MutexLock lock(faults.mutex);
  faults.notes.emplace(options.run_directory, rank);
  bool has_flips = false;
  for (const Fault& fault : options.faults) {
    if (fault.rank != rank) continue;
    if (fault.kind == Fault::Kind::flip && fault.area == Fault::Area::none) {
      has_flips = true;
      continue;
    }
    (fault.at_s ? faults.timed : faults.counted).push_back(fault);
    faults.left.push_back(fault.text);
  }
  std::stable_sort(faults.timed.begin(), faults.timed.end(),
                   [](const Fault& a, const Fault& b) { return *a.at_s < *b.at_s; });
  if (has_flips) armed_flips.store(new Flips(options.faults, rank, options.run_directory));
  // A fault comes when it is said to have come: nothing slow lies between.
  if (!faults.left.empty()) faults.notes->prepare();
  if (!faults.counted.empty()) detail::counts_calls.store(true);
  if (!faults.timed.empty()) start_timer();
}

std::vector<std::string> faults_left() {
  std::vector<std::string> texts;
  {
    const runtime::MutexLock lock(armed().mutex);
    texts = armed().left;
  }
  if (Flips* flips = armed_flips.load())
    std::ranges::copy(flips->left(), std::back_inserter(texts));
  return texts;
}

void detail::count_entry(const char* call) {
  std::vector<Fault> due;
  {
    const runtime::MutexLock lock(armed().mutex);
    const std::uint64_t entry = ++armed().entries[call];
    for (const Fault& fault : armed().counted)
      if (fault.call == call && fault.count == entry) due.push_back(fault);
  }
  for (const Fault& fault : due) fire(fault, Context::call);
}

}  // namespace resprout::shim
