#include "mpi/process/report/position.hpp"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "mpi/process/environment.hpp"
#include "mpi/process/report/last_words.hpp"
#include "mpi/process/report/own_time.hpp"
#include "openmpi/progress_hook.hpp"
#include "runtime/net/clock.hpp"

namespace resprout::shim {
namespace {

constexpr std::int64_t between_looks_ns = 1'000'000'000;
constexpr useconds_t between_looks_us = 1'000'000;
// A look that comes much later was itself kept from its core, or the machine stood still.
constexpr std::int64_t elapsed_max_ns = 2 * between_looks_ns;

struct Whereabouts {
  int phase = 0;
  std::uint64_t checkpoint = 0;
  std::uint64_t calls = 0;

  bool operator==(const Whereabouts&) const = default;
};

// Word of whom this process waits for: asked for by the thread that looks, left by the one that
// waits.
class WaitingWord {
 public:
  WaitingWord(std::string path, bool is_wanted) : path_(std::move(path)), is_wanted_(is_wanted) {}

  void note_look(bool waits_long) {
    if (!is_wanted_) return;
    if (waits_long && !is_asked_for_) is_due_.store(true);
    if (!waits_long && is_asked_for_) {
      is_due_.store(false);
      unlink(path_.c_str());
    }
    is_asked_for_ = waits_long;
  }

  bool take_due() { return is_due_.load(std::memory_order_relaxed) && is_due_.exchange(false); }
  const std::string& path() const { return path_; }

 private:
  const std::string path_;
  const bool is_wanted_;
  std::atomic<bool> is_due_{false};
  bool is_asked_for_ = false;  // of the thread that looks
};

class Position {
 public:
  Position(const std::string& run_directory, const std::string& rank, bool describes_waiting)
      : waiting_(run_directory + "/waiting-" + rank, describes_waiting),
        file_(open((run_directory + "/position-" + rank).c_str(),
                   O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)),
        order_to_end_(run_directory + "/stands-still-" + rank) {}

  void begin() {
    write();  // others may look when this process has ended already
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    try {
      std::thread([this] { run(); }).detach();
    } catch (const std::system_error& error) {
      std::fprintf(stderr, "resprout: nobody looks whether this process stands still: %s\n",
                   error.what());
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  void note(Phase phase) { phase_.store(static_cast<int>(phase)); }
  void note_running(const PositionSources& sources) {
    static PositionSources kept;
    kept = sources;
    sources_.store(&kept);
    note(Phase::running);
  }
  void note_progress() {
    looks_.store(looks_.load(relaxed) + 1, relaxed);
    if (waiting_.take_due()) sources_.load()->describe_waiting(waiting_.path(), place().calls);
  }
  void note_checkpoint_begun() { checkpoints_begun_.fetch_add(1); }
  void note_checkpoint(std::uint64_t number) {
    calls_before_.store(calls());
    checkpoint_.store(number);
  }

 private:
  static constexpr auto relaxed = std::memory_order_relaxed;

  std::uint64_t calls() const {
    const PositionSources* sources = sources_.load();
    return (sources == nullptr ? 0 : sources->calls()) + checkpoints_begun_.load();
  }
  Whereabouts place() const {
    const std::uint64_t before = calls_before_.load();
    const std::uint64_t all = calls();
    return {phase_.load(), checkpoint_.load(), all - std::min(before, all)};
  }
  bool is_inside_always() const {
    const int phase = phase_.load();
    return phase == static_cast<int>(Phase::starting) || phase == static_cast<int>(Phase::ending);
  }

  [[noreturn]] void run() {
    std::int64_t looked_at = runtime::monotonic_ns();
    for (;;) {
      usleep(between_looks_us);
      const std::int64_t now = runtime::monotonic_ns();
      look(std::min(now - looked_at, elapsed_max_ns));
      looked_at = now;
      write();
      waiting_.note_look(waits_ && still_ns_ > 0);
      if (still_ns_ > between_looks_ns && access(order_to_end_.c_str(), F_OK) == 0)
        for (;;) kill(getpid(), SIGKILL);
    }
  }

  void look(std::int64_t elapsed_ns) {
    const Whereabouts now = place();
    const std::uint64_t looks = looks_.load(relaxed);
    const bool waits = is_inside_always() || looks != looks_before_;
    looks_before_ = looks;
    const std::int64_t own_ns = own_time_.of(elapsed_ns);
    if (now != place_ || waits != waits_)
      still_ns_ = 0;
    else
      still_ns_ += own_ns;
    if (!waits) longest_ns_ = std::max(longest_ns_, still_ns_);
    place_ = now;
    waits_ = waits;
  }

  void write() const {
    std::array<char, 160> line{};
    constexpr std::int64_t ms = 1'000'000;
    const int length = std::snprintf(
        line.data(), line.size(), "%d %020llu %020llu %015lld %015lld %d %010d\n", place_.phase,
        static_cast<unsigned long long>(place_.checkpoint),
        static_cast<unsigned long long>(place_.calls), static_cast<long long>(still_ns_ / ms),
        static_cast<long long>(longest_ns_ / ms), waits_ ? 1 : 0, static_cast<int>(getpid()));
    [[maybe_unused]] const ssize_t written =
        pwrite(file_, line.data(), static_cast<std::size_t>(length), 0);
  }

  WaitingWord waiting_;
  const int file_;
  const std::string order_to_end_;
  std::atomic<int> phase_{static_cast<int>(Phase::starting)};
  std::atomic<const PositionSources*> sources_{nullptr};
  std::atomic<std::uint64_t> checkpoint_{0};
  std::atomic<std::uint64_t> checkpoints_begun_{0};
  std::atomic<std::uint64_t> calls_before_{0};  // up to the last checkpoint
  std::atomic<std::uint64_t> looks_{0};         // for progress, about

  // Of its thread.
  OwnTime own_time_;
  Whereabouts place_{.phase = static_cast<int>(Phase::starting)};
  std::uint64_t looks_before_ = 0;
  bool waits_ = true;
  std::int64_t still_ns_ = 0;
  std::int64_t longest_ns_ = 0;
};

// Never destroyed: its thread goes on until the process is gone.
std::atomic<Position*> position{nullptr};

// In every round of the library's progress.
int count_look() {
  note_waiting();
  return 0;
}

}  // namespace

void begin_position() {
  const bool is_replica = std::getenv("RESPROUT_REPLICA") != nullptr;
  const char* timeout = std::getenv("RESPROUT_CALL_TIMEOUT");
  const bool is_timed = timeout != nullptr && std::string_view(timeout) != "none";
  const char* run_directory = std::getenv("RESPROUT_RUN_DIR");
  const char* rank = rank_in_environment();
  if ((!is_replica && !is_timed) || run_directory == nullptr || rank == nullptr) return;
  if (is_of_other_job() || position.load() != nullptr) return;
  auto* made = new Position(run_directory, rank, is_timed);
  position.store(made);
  made->begin();
}

void note_running(const PositionSources& sources) {
  Position* by = position.load();
  if (by == nullptr) return;
  by->note_running(sources);
  add_progress_hook(count_look, Rounds::all);
}

void note_phase(Phase phase) {
  Position* by = position.load();
  if (by == nullptr) return;
  if (phase == Phase::ending) remove_progress_hook(count_look);
  by->note(phase);
}

void note_waiting() {
  if (Position* by = position.load(std::memory_order_relaxed)) by->note_progress();
}

void note_checkpoint_begun() {
  if (Position* by = position.load()) by->note_checkpoint_begun();
}

void note_checkpoint(std::uint64_t number) {
  if (Position* by = position.load()) by->note_checkpoint(number);
}

}  // namespace resprout::shim
