// Data links that swallow frames without a word, and peers that are merely late. Each rank is a
// thread; another one ticks for all of them, and stands for the failure detector.
#include "runtime/links.hpp"

#include <chrono>
#include <set>

#include "doctest/doctest.h"
#include "runtime/collectives.hpp"
#include "runtime/native_call.hpp"
#include "runtime/session_test.hpp"

using namespace resprout;
using namespace resprout::runtime;

namespace {

constexpr Duration patience_ns = 20'000'000;
constexpr auto long_time = std::chrono::milliseconds(500);  // many times the patience

// A job whose links are watched. Of a silent link the end with the higher rank is lost.
class WatchedJob {
 public:
  explicit WatchedJob(int ranks, bool shares_memory = false, Duration patience = patience_ns)
      : job(ranks, shares_memory) {
    for (int self = 0; self < ranks; ++self) {
      LinkWatching watching;
      watching.patience_ns = patience;
      for (int rank = 0; rank < ranks; ++rank) watching.hosts.push_back(rank);
      watching.ask_detector = [this, self](int rank) { engine(rank).note_question(self); };
      watching.say_at_work = [this, self](int rank) { engine(rank).note_at_work(self); };
      watching.report = [this, self](int rank) { lose(std::max(self, rank)); };
      engine(self).watch_links(watching);
    }
  }

  void run(const std::function<void(int rank, Engine&, Session&)>& body) {
    std::thread ticker([this] {
      while (job.running.load() > 0) {
        for (auto& each : job.engines) each->tick();
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    });
    job.run(body);
    ticker.join();
  }

  Engine& engine(int rank) { return *job.engines[static_cast<std::size_t>(rank)]; }
  bool is_lost(int rank) const { return job.is_dead[static_cast<std::size_t>(rank)]; }
  int sent(MessageKind kind) { return job.wire.sent_as(kind).frames.load(); }
  void cut(int one, int other) {
    job.wire.cut(one, other);
    job.wire.cut(other, one);
  }

  Job job;
  std::atomic<int> reports{0};

 private:
  // Who is lost would end; here it goes on alone.
  void lose(int loser) {
    ++reports;
    if (job.is_dead[static_cast<std::size_t>(loser)].exchange(true)) return;
    for (int rank = 0; rank < job.size; ++rank) {
      if (rank == loser) continue;
      engine(rank).report_failure(loser);
      engine(loser).report_failure(rank);
    }
  }
};

class SlowSum final : public Combiner {
 public:
  bool is_commutative() const override { return true; }
  void combine(std::span<const std::byte> lower, std::span<std::byte> upper) override {
    std::this_thread::sleep_for(long_time);
    Sum sum;
    sum.combine(lower, upper);
  }
};

}  // namespace

TEST_CASE("links: while nobody is late nothing is asked") {
  WatchedJob watched(4, false, 600'000'000'000);
  watched.run([&](int rank, Engine& engine, Session& session) {
    for (int i = 0; i < 300; ++i) allreduce(engine, session, rank);
  });
  CHECK(watched.sent(MessageKind::keepalive) == 0);
  CHECK(watched.sent(MessageKind::acknowledgment) == 0);
}

namespace {

// What the library below carries until somebody is lost, or nobody is for very long.
class Endless final : public NativeCall {
 public:
  explicit Endless(const Engine& engine) : engine_(engine) {}
  bool run() override {
    const auto end = std::chrono::steady_clock::now() + 20 * long_time;
    while (engine_.losses().count() == 0 && std::chrono::steady_clock::now() < end)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return false;
  }
  void interrupt() override {}
  std::span<const std::byte> payload() override { return {}; }
  void take(std::span<const std::byte>) override {}
  bool synchronizes() const override { return true; }
  int root() const override { return -1; }

 private:
  const Engine& engine_;
};

}  // namespace

TEST_CASE("links: a cut under a collective of the library below is found") {
  WatchedJob watched(4);
  watched.cut(1, 3);
  watched.run([&](int, Engine& engine, Session& session) {
    Endless call(engine);
    Lock lock = engine.lock();
    CHECK_FALSE(session.run_natively(lock, call).is_delivered);
  });
  CHECK(watched.reports > 0);
  CHECK(watched.is_lost(3));
}

TEST_CASE("links: of any two hosts one link is watched, and few for each process") {
  constexpr int hosts = 9;
  constexpr int ranks_each = 4;
  constexpr int ranks = hosts * ranks_each;
  std::vector<Member> all;
  for (int rank = 0; rank < ranks; ++rank) all.push_back({rank, rank});
  WatchedJob unused(1);
  std::set<std::pair<int, int>> asked;
  for (int self = 0; self < ranks; ++self) {
    Links links(self, *unused.job.transports[0]);
    LinkWatching watching;
    watching.patience_ns = patience_ns;
    for (int rank = 0; rank < ranks; ++rank) watching.hosts.push_back(rank - rank % ranks_each);
    links.watch(watching);
    const std::vector<int> chosen = links.one_on_each_host(1, Members(all, self));
    CHECK(chosen.size() <= (hosts + ranks_each - 1) / ranks_each);
    for (const int rank : chosen) asked.insert({self / ranks_each, rank / ranks_each});
  }
  CHECK(asked.size() == hosts * (hosts - 1));
}

TEST_CASE("links: a process that comes late answers, and is not accused") {
  WatchedJob watched(4);
  std::atomic<int> wrong{0};
  watched.run([&](int rank, Engine& engine, Session& session) {
    for (const int late : {3, 0, 1}) {
      if (rank == late) std::this_thread::sleep_for(long_time);
      if (allreduce(engine, session, 1L << rank) != 15) ++wrong;
    }
  });
  CHECK(wrong == 0);
  CHECK(watched.reports == 0);
  CHECK(watched.sent(MessageKind::keepalive) > 0);
  CHECK(watched.sent(MessageKind::acknowledgment) > 0);
}

TEST_CASE("links: an operator that keeps the engine to itself for long is no fault") {
  WatchedJob watched(3);
  std::atomic<int> wrong{0};
  watched.run([&](int rank, Engine& engine, Session& session) {
    const long value = 1L << rank;
    long result = 0;
    SlowSum sum;
    Lock lock = engine.lock();
    allreduce(session, lock, ReduceSpec{}, std::as_bytes(std::span(&value, 1)), sum,
              [&](std::span<const std::byte> bytes) {
                std::memcpy(&result, bytes.data(), sizeof result);
              });
    if (result != 7) ++wrong;
  });
  CHECK(wrong == 0);
  CHECK(watched.reports == 0);
}

TEST_CASE("links: of a link that is cut under allreduces one end is lost, and the others go on") {
  for (const auto& [one, other] : {std::pair{0, 1}, {0, 2}, {2, 3}}) {
    for (const int ways : {1, 2, 3}) {  // from one to the other, back, both
      CAPTURE(one);
      CAPTURE(other);
      CAPTURE(ways);
      WatchedJob watched(4);
      std::atomic<int> wrong{0};
      watched.run([&](int rank, Engine& engine, Session& session) {
        for (int i = 0; i < 20; ++i) {
          if (rank == 0 && i == 5) {
            if (ways & 1) watched.job.wire.cut(one, other);
            if (ways & 2) watched.job.wire.cut(other, one);
          }
          const long sum = allreduce(engine, session, 1L << rank);
          const bool is_right = sum == 15 || (i >= 4 && sum == 15 - (1L << other));
          if (rank != other && !is_right) ++wrong;
        }
      });
      CHECK(wrong == 0);
      CHECK(watched.is_lost(other));
      CHECK_FALSE(watched.is_lost(one));
    }
  }
}

TEST_CASE("links: a cut under broadcasts is found by who gets no payload, machine or not") {
  for (const bool shares_memory : {false, true}) {
    CAPTURE(shares_memory);
    WatchedJob watched(3, shares_memory);
    std::atomic<int> wrong{0};
    const BroadcastSpec spec = shares_memory ? BroadcastSpec::star() : BroadcastSpec{};
    watched.run([&](int rank, Engine& engine, Session& session) {
      for (long i = 0; i < 20; ++i) {
        if (rank == 0 && i == 5) {
          watched.cut(0, 2);
          watched.cut(1, 2);
        }
        const long sent = rank == 0 ? 1000 + i : 0;
        long got = rank == 0 ? sent : -1;
        Lock lock = engine.lock();
        broadcast(
            session, lock, spec, 0, std::as_bytes(std::span(&sent, 1)),
            [&](std::span<const std::byte> bytes) { std::memcpy(&got, bytes.data(), sizeof got); });
        if (rank != 2 && got != 1000 + i) ++wrong;
      }
    });
    CHECK(wrong == 0);
    CHECK(watched.is_lost(2));
    CHECK_FALSE(watched.is_lost(1));
  }
}

TEST_CASE("links: once one link between two hosts is silent, all between them are tried at once") {
  Job job(4);
  std::mutex mutex;
  std::set<std::pair<int, int>> reported;
  const auto is_complete = [&] {
    const std::lock_guard guard(mutex);
    return reported.size() == 4;
  };
  for (int self = 0; self < 4; ++self) {
    const auto engine = [&job](int rank) {
      return job.engines[static_cast<std::size_t>(rank)].get();
    };
    LinkWatching watching;
    watching.patience_ns = patience_ns;
    watching.hosts = {0, 0, 2, 2};
    watching.ask_detector = [=](int rank) { engine(rank)->note_question(self); };
    watching.say_at_work = [=](int rank) { engine(rank)->note_at_work(self); };
    watching.report = [=, &mutex, &reported](int rank) {
      const std::lock_guard guard(mutex);
      reported.insert(std::minmax(self, rank));
      for (int each = 0; each < 4; ++each) engine(each)->note_silent_link(self, rank);
    };
    engine(self)->watch_links(watching);
  }
  for (const int one : {0, 1})
    for (const int other : {2, 3}) {
      job.wire.cut(one, other);
      job.wire.cut(other, one);
    }
  std::thread ticker([&] {
    while (!is_complete()) {
      for (auto& each : job.engines) each->tick();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    for (const int one : {0, 1})
      for (const int other : {2, 3}) {
        job.engines[static_cast<std::size_t>(one)]->report_failure(other);
        job.engines[static_cast<std::size_t>(other)]->report_failure(one);
      }
  });
  std::atomic<int> wrong{0};
  job.run([&](int rank, Engine& engine, Session& session) {
    // Nobody waits for 3, nor it for anybody, before its links are reported as well.
    while (rank == 3 && !is_complete()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (allreduce(engine, session, 1L << rank) != (rank < 2 ? 3 : 12)) ++wrong;
  });
  ticker.join();
  CHECK(wrong == 0);
}

TEST_CASE("links: under gossip anybody may bring the payload, so all are asked") {
  WatchedJob watched(3);
  BroadcastSpec spec;
  spec.gossip_rounds = 2;
  spec.correction.kind = protocols::Correction::checked;
  std::atomic<int> wrong{0};
  watched.run([&](int rank, Engine& engine, Session& session) {
    for (long i = 0; i < 10; ++i) {
      if (rank == 0 && i == 3) {
        watched.cut(0, 2);
        watched.cut(1, 2);
      }
      const long sent = rank == 0 ? 1000 + i : 0;
      long got = rank == 0 ? sent : -1;
      Lock lock = engine.lock();
      broadcast(
          session, lock, spec, 0, std::as_bytes(std::span(&sent, 1)),
          [&](std::span<const std::byte> bytes) { std::memcpy(&got, bytes.data(), sizeof got); });
      if (rank != 2 && got != 1000 + i) ++wrong;
    }
  });
  CHECK(wrong == 0);
  CHECK(watched.is_lost(2));
}
