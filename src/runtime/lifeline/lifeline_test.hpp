// Jobs of real processes with lifelines, that a test kills, stops and asks.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <set>
#include <span>
#include <string>

#include "doctest/doctest.h"
#include "runtime/lifeline/lifeline.hpp"
#include "runtime/net/fd.hpp"
#include "runtime/testing/processes.hpp"

namespace resprout::runtime {

using testing::expect;
using testing::nap_ms;
using testing::Processes;
using testing::Shared;

inline constexpr int procs_max = 16;

struct Heard {
  std::atomic<int> losses;  // how often
  std::atomic<int> kind;
  std::atomic<int> found_by;
  std::atomic<int> left;
};

struct Board {
  std::atomic<int> listening, connected;
  std::atomic<bool> may_leave;
  std::atomic<bool> order[procs_max];  // a rank does what its test tells it to do
  PeerAddress addresses[procs_max];
  Heard heard[procs_max][procs_max];  // [listener][subject]
  std::atomic<int> ticks[procs_max];
  std::atomic<bool> is_stuck[procs_max];  // its lifeline's thread does not come back from a tick
  std::atomic<std::uint64_t> rejected[procs_max];
  std::atomic<std::uint64_t> accusations[procs_max];
  std::atomic<int> questions[procs_max];  // about its data links
  std::atomic<int> answers[procs_max];    // to its own ones
  std::atomic<int> cut_off[procs_max];    // how often it was told so, if it may live on
  // [rank][epoch]: the ranks that are lost in the view, as bits; 0: it has not installed it.
  std::atomic<std::uint32_t> views[procs_max][procs_max + 1];
  // [epoch]: how many have decided it: one, and those who took over from it before all knew.
  std::atomic<int> decided[procs_max + 1];
};

struct Job {
  int procs = 4;
  int hosts = 1;          // rank r pretends to be on host r % hosts
  int timeout_ms = 1000;  // of heartbeats
  int grace_ms = 10000;
  int radix = 4;
  bool may_live_on = false;
  void (*ordered)(int rank, Lifeline& lifeline) = nullptr;
  unsigned lasts_seconds = testing::watchdog_seconds;  // at most
};

inline void run_rank(int rank, const Job& job, Board& board) {
  LifelineOptions options;
  options.rank = rank;
  options.secret.fill(0x77);
  options.heartbeat_period_ns = std::int64_t{job.timeout_ms} * 100'000;
  options.heartbeat_timeout_ns = std::int64_t{job.timeout_ms} * 1'000'000;
  options.starved_grace_ns = std::int64_t{job.grace_ms} * 1'000'000;
  options.on_loss = [&](const Loss& loss) {
    Heard& heard = board.heard[rank][loss.rank];
    heard.kind = static_cast<int>(loss.kind);
    heard.found_by = loss.found_by;
    expect(loss.detected_ns > 0, "a loss has a time");
    ++heard.losses;
  };
  options.on_view = [&](const InstalledView& view) {
    expect(view.epoch >= 2 && view.epoch <= procs_max, "each view is without one more");
    expect(view.detected_ns <= view.installed_ns && view.decided_ns <= view.installed_ns,
           "a view is installed in the end");
    std::uint32_t lost = 0;
    for (const int subject : view.lost) lost |= 1U << subject;
    expect(board.views[rank][view.epoch].exchange(lost) == 0, "a view is installed once");
    if (view.decided_ns != 0) ++board.decided[view.epoch];
  };
  options.on_left = [&](int subject) { ++board.heard[rank][subject].left; };
  Lifeline* itself = nullptr;
  options.on_tick = [&] {
    ++board.ticks[rank];
    board.rejected[rank] = itself->rejected_connections();
    board.accusations[rank] = itself->accusations();
    while (board.is_stuck[rank]) nap_ms(10);
    return true;
  };
  options.on_question = [&](int by) {
    ++board.questions[rank];
    itself->say_at_work(by);
  };
  options.on_at_work = [&](int) { ++board.answers[rank]; };
  if (job.may_live_on)
    options.on_cut_off = [&](const std::string& why) {
      expect(!why.empty(), "it is told why");
      ++board.cut_off[rank];
      return true;
    };
  Lifeline lifeline(options);
  itself = &lifeline;
  board.addresses[rank] = lifeline.listen();
  board.addresses[rank].host_id[0] = static_cast<std::uint8_t>(rank % job.hosts);
  ++board.listening;
  while (board.listening < job.procs) nap_ms(1);
  const std::span<const PeerAddress> peers(board.addresses, static_cast<std::size_t>(job.procs));
  lifeline.connect(peers, make_view_tree({job.radix}, {peers, {}}));
  ++board.connected;
  while (!board.may_leave) {
    if (board.order[rank].exchange(false)) job.ordered(rank, lifeline);
    nap_ms(1);
  }
  lifeline.leave();
  board.rejected[rank] = lifeline.rejected_connections();
  board.accusations[rank] = lifeline.accusations();
}

// A job of real processes that the test kills, stops and asks.
class Scene {
 public:
  explicit Scene(const Job& job)
      : job_(job),
        ranks_(job.procs, [&](int rank) { run_rank(rank, job, *board_); }, job.lasts_seconds) {
    REQUIRE(eventually([&] { return board_->connected == job.procs; }));
  }

  Board& board() { return *board_; }
  Processes& ranks() { return ranks_; }

  template <typename Condition>
  static bool eventually(Condition condition) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(45);
    while (!condition())
      if (std::chrono::steady_clock::now() > end) {
        return false;
      } else {
        nap_ms(1);
      }
    return true;
  }

  // All ranks that are not in `gone` have heard of the loss of `subject`.
  bool all_heard(int subject, const std::set<int>& gone) {
    return eventually([&] {
      for (int rank = 0; rank < job_.procs; ++rank)
        if (!gone.contains(rank) && board_->heard[rank][subject].losses == 0) return false;
      return true;
    });
  }

  // All ranks that are not in `lost` are in a view without exactly these.
  bool all_in_view(const std::set<int>& lost) {
    std::uint32_t wanted = 0;
    for (const int rank : lost) wanted |= 1U << rank;
    return eventually([&] {
      for (int rank = 0; rank < job_.procs; ++rank)
        if (!lost.contains(rank) && last_view(rank) != wanted) return false;
      return true;
    });
  }

  // Who is lost in the last view of `rank`, as bits.
  std::uint32_t last_view(int rank) {
    for (int epoch = procs_max; epoch > 1; --epoch)
      if (const std::uint32_t lost = board_->views[rank][epoch]) return lost;
    return 0;
  }

  // No two processes have ever been in different views of one epoch.
  void check_views() {
    for (int epoch = 2; epoch <= procs_max; ++epoch) {
      CAPTURE(epoch);
      std::set<std::uint32_t> seen;
      for (int rank = 0; rank < job_.procs; ++rank)
        if (board_->views[rank][epoch] != 0) seen.insert(board_->views[rank][epoch]);
      CHECK(seen.size() <= 1);
    }
  }

  // Lets the living leave, and checks that they heard of exactly these losses, once each.
  // `or_kind`: what some may have heard first.
  void finish(const std::set<int>& lost, LossKind kind, const std::set<int>& left = {},
              std::optional<LossKind> or_kind = std::nullopt) {
    check_views();
    board_->may_leave = true;
    for (int rank = 0; rank < job_.procs; ++rank) {
      if (lost.contains(rank)) continue;
      CHECK(ranks_.wait(rank) == 0);
      if (left.contains(rank)) continue;
      for (int subject = 0; subject < job_.procs; ++subject) {
        CAPTURE(rank);
        CAPTURE(subject);
        const Heard& heard = board_->heard[rank][subject];
        CHECK(heard.losses == (lost.contains(subject) ? 1 : 0));
        if (!lost.contains(subject)) continue;
        const int heard_kind = heard.kind;
        CAPTURE(heard_kind);
        CHECK((heard_kind == static_cast<int>(kind) ||
               heard_kind == static_cast<int>(or_kind.value_or(kind))));
      }
    }
  }

 private:
  Job job_;
  Shared<Board> board_;
  Processes ranks_;
};

// What the processes of a job say on stderr.
class Captured {
 public:
  Captured() : file_(memfd_create("stderr", MFD_CLOEXEC)), before_(dup(STDERR_FILENO)) {
    // Each write goes to the end, whoever writes.
    REQUIRE(fcntl(file_.get(), F_SETFL, O_APPEND) == 0);
    REQUIRE(dup2(file_.get(), STDERR_FILENO) >= 0);
  }
  ~Captured() { dup2(before_.get(), STDERR_FILENO); }
  std::string text() const {
    std::string text(65536, 0);
    const ssize_t length = pread(file_.get(), text.data(), text.size(), 0);
    text.resize(length > 0 ? static_cast<std::size_t>(length) : 0);
    return text;
  }

 private:
  Fd file_;
  Fd before_;
};

}  // namespace resprout::runtime
