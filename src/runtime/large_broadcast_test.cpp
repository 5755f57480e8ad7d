// Broadcasts of much data: whoever dies, before or behind each step, all who live have it or none.
#include <algorithm>
#include <atomic>
#include <exception>
#include <functional>
#include <thread>

#include "core/random.hpp"
#include "doctest/doctest.h"
#include "runtime/collectives.hpp"
#include "runtime/offered_memory.hpp"
#include "runtime/session_test.hpp"

using namespace resprout;
using namespace resprout::runtime;

namespace {

constexpr int ranks = 5;
constexpr std::size_t bytes = (std::size_t{1} << 20) + 12'345;  // no multiple of a slice
constexpr int root = 1;

struct Death : std::exception {};

std::byte byte_at(std::size_t i, int broadcast) {
  return std::byte((i * 7 + static_cast<std::size_t>(broadcast)) % 253);
}

using OnRead = std::function<MemoryRead(int rank)>;

// The threads of a job are one process, which may read its own memory in the same way.
class ThreadReader final : public MemoryReader {
 public:
  ThreadReader(int rank, const OnRead& on_read, std::atomic<int>& confirmed)
      : rank_(rank), on_read_(on_read), confirmed_(confirmed) {}
  MemoryRead read(const MemoryOffer& offer, std::size_t offset,
                  std::span<std::byte> into) override {
    const MemoryRead read = on_read_(rank_);
    return read == MemoryRead::done ? system_.read(offer, offset, into) : read;
  }
  MemoryRead confirm(const MemoryOffer& offer) override {
    const MemoryRead read = system_.confirm(offer);
    if (read == MemoryRead::done) ++confirmed_;
    return read;
  }

 private:
  int rank_;
  const OnRead& on_read_;
  std::atomic<int>& confirmed_;
  SystemMemoryReader system_;
};

// A job in which others can take a process for lost that lives: it hears of that, too.
struct LargeJob : Job {
  LargeJob() : Job(ranks, true) {}

  void lose(int rank) {
    const auto place = static_cast<std::size_t>(rank);
    if (was_lost[place].exchange(true)) return;
    while (sessions[place] == nullptr) std::this_thread::yield();
    die(rank);
    const Lock lock = engines[place]->lock();
    sessions[place].load()->cut_off();
  }

  std::array<std::atomic<Session*>, ranks> sessions{};
  std::array<std::atomic<bool>, ranks> was_lost{};
};

struct Told {
  std::array<std::vector<std::byte>, ranks> memory;  // outlives all threads
  std::array<bool, ranks> is_dead{};                 // by itself
  std::array<bool, ranks> is_delivered{};
  std::array<std::vector<int>, ranks> contributors;
  std::array<long, ranks> sums{};  // of an allreduce behind it
  std::atomic<int> reads{0};
  std::atomic<int> confirmed{0};  // so many have all of it
};

bool has_all(const Told& told, int rank, int broadcast = 0) {
  const auto& memory = told.memory[static_cast<std::size_t>(rank)];
  for (std::size_t i = 0; i < bytes; ++i)
    if (memory[i] != byte_at(i, broadcast)) return false;
  return true;
}

void broadcast_once(Engine& engine, Session& session, int rank, Told& told, const OnRead& on_read,
                    int broadcast = 0) {
  const auto place = static_cast<std::size_t>(rank);
  auto& memory = told.memory[place];
  memory.assign(bytes, std::byte{0xff});
  if (rank == root)
    for (std::size_t i = 0; i < bytes; ++i) memory[i] = byte_at(i, broadcast);
  ThreadReader reader(rank, on_read, told.confirmed);
  Lock lock = engine.lock();
  const Outcome outcome = broadcast_large(session, lock, BroadcastSpec::star(), ReduceSpec::star(),
                                          root, memory, reader);
  told.is_delivered[place] = outcome.is_delivered;
  told.contributors[place] = session.contributors().ranks();
}

void tell(LargeJob& job, Told& told, const OnRead& on_read) {
  job.run([&](int rank, Engine& engine, Session& session) {
    const auto place = static_cast<std::size_t>(rank);
    job.sessions[place] = &session;
    try {
      broadcast_once(engine, session, rank, told, on_read);
      told.sums[place] = allreduce(engine, session, 1L << rank);
    } catch (const Death&) {
      told.is_dead[place] = true;
    }
  });
}

// `lost`: who has no say. True: it was delivered.
bool check_alike(const Told& told, const std::vector<int>& lost) {
  const auto is_lost = [&](int rank) { return std::ranges::count(lost, rank) != 0; };
  int first = 0;
  while (is_lost(first)) ++first;
  const bool is_delivered = told.is_delivered[static_cast<std::size_t>(first)];
  long left = 0;
  for (int rank = 0; rank < ranks; ++rank) left += is_lost(rank) ? 0 : 1L << rank;
  for (int rank = 0; rank < ranks; ++rank) {
    if (is_lost(rank)) continue;
    const auto place = static_cast<std::size_t>(rank);
    CAPTURE(rank);
    CHECK(told.is_delivered[place] == is_delivered);
    CHECK((!is_delivered || has_all(told, rank)));
    CHECK(told.contributors[place] == (is_delivered ? std::vector<int>{root} : std::vector<int>{}));
    CHECK((told.sums[place] & left) == left);
    CHECK(told.sums[place] == told.sums[static_cast<std::size_t>(first)]);
  }
  return is_delivered;
}

}  // namespace

TEST_CASE("large broadcasts: all read what the root offers, and no message has it") {
  LargeJob job;
  Told told;
  tell(job, told, [&](int) {
    ++told.reads;
    return MemoryRead::done;
  });
  CHECK(check_alike(told, {}));
  CHECK(told.reads == 2 * (ranks - 1));  // a MiB, and the rest
  std::size_t sent = 0;
  for (const auto& count : job.wire.sent) sent += count.bytes;
  CHECK(sent < 4096);
}

TEST_CASE("large broadcasts: where somebody may not read they go in slices from then on") {
  LargeJob job;
  Told told;
  const OnRead refuse = [&](int rank) {
    ++told.reads;
    return rank == 3 ? MemoryRead::refused : MemoryRead::done;
  };
  std::atomic<int> reads_of_first{0};
  job.run([&](int rank, Engine& engine, Session& session) {
    broadcast_once(engine, session, rank, told, refuse);
    CHECK(told.is_delivered[static_cast<std::size_t>(rank)]);
    CHECK(has_all(told, rank));
    allreduce(engine, session, 1);
    reads_of_first = told.reads.load();
    allreduce(engine, session, 1);
    broadcast_once(engine, session, rank, told, refuse, 1);
    CHECK(told.is_delivered[static_cast<std::size_t>(rank)]);
    CHECK(has_all(told, rank, 1));
  });
  CHECK(reads_of_first > 0);
  CHECK(told.reads == reads_of_first);
}

TEST_CASE("large broadcasts: a root that is lost while some have read is no loss") {
  for (int reader = 0; reader < ranks; ++reader) {
    if (reader == root) continue;
    CAPTURE(reader);
    LargeJob job;
    Told told;
    tell(job, told, [&](int rank) {
      if (rank == reader) return MemoryRead::done;
      while (told.confirmed == 0) std::this_thread::yield();
      job.lose(root);
      return MemoryRead::gone;
    });
    CHECK(check_alike(told, {root}));
  }
}

TEST_CASE(
    "large broadcasts: one that nobody has read before its root was lost has failed for all") {
  LargeJob job;
  Told told;
  tell(job, told, [&](int) {
    job.lose(root);
    return MemoryRead::gone;
  });
  CHECK_FALSE(check_alike(told, {root}));
}

TEST_CASE("large broadcasts: who dies while it reads, or behind that, is left out") {
  for (const bool has_read : {false, true})
    for (int victim = 0; victim < ranks; ++victim) {
      if (victim == root) continue;
      CAPTURE(has_read);
      CAPTURE(victim);
      LargeJob job;
      Told told;
      std::atomic<int> reads{0};
      tell(job, told, [&](int rank) {
        if (rank != victim || reads.fetch_add(1) < (has_read ? 1 : 0)) return MemoryRead::done;
        job.die(rank);
        throw Death{};
      });
      CHECK(told.is_dead[static_cast<std::size_t>(victim)]);
      CHECK(check_alike(told, {victim}));
    }
}

TEST_CASE("large broadcasts: whoever is lost at any time, all who are left come to the same end") {
  int delivered = 0;
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    LargeJob job;
    Told told;
    std::vector<int> lost{root};
    const int other = static_cast<int>(random.below(ranks));
    if (other != root) lost.push_back(other);
    const auto first = std::chrono::microseconds(random.below(1500));
    const auto second = std::chrono::microseconds(random.below(600));
    const std::uint64_t unlucky = random.below(1 << ranks);  // they read when it is too late
    std::atomic<bool> is_lost{false};
    std::thread killer([&] {
      std::this_thread::sleep_for(first);
      job.lose(lost[0]);
      is_lost = true;
      std::this_thread::sleep_for(second);
      if (lost.size() > 1) job.lose(lost[1]);
    });
    tell(job, told, [&](int rank) {
      return is_lost && (unlucky >> rank & 1) != 0 ? MemoryRead::gone : MemoryRead::done;
    });
    killer.join();
    delivered += check_alike(told, lost) ? 1 : 0;
  }
  CHECK(delivered > 0);
  CHECK(delivered < 150);
}
