// Agreements over a transport in memory: who returns and dies has returned what the others return.
#include "doctest/doctest.h"
#include "runtime/collectives.hpp"
#include "runtime/session_test.hpp"
#include "runtime/started.hpp"

using namespace resprout;
using namespace resprout::runtime;

namespace {

// The sum of one bit of each member: who has contributed.
long agree(Engine& engine, Session& session, const ReduceSpec& spec, Combiner& combiner) {
  Lock lock = engine.lock();
  const long own = 1L << session.everybody().comm_rank(session.everybody().self());
  long result = -1;
  agree(
      session, lock, spec, std::as_bytes(std::span(&own, 1)), combiner,
      [&](std::span<const std::byte> bytes) { std::memcpy(&result, bytes.data(), sizeof result); });
  return result;
}

// Says how many contributions were combined.
class Counted final : public Combiner {
 public:
  explicit Counted(std::atomic<int>& count) : count_(count) {}
  bool is_commutative() const override { return true; }
  void combine(std::span<const std::byte> lower, std::span<std::byte> upper) override {
    sum_.combine(lower, upper);
    ++count_;
  }

 private:
  Sum sum_;
  std::atomic<int>& count_;
};

}  // namespace

TEST_CASE("sessions: all agree on what all gave, again and again, and on whose it is") {
  for (const int size : {1, 2, 3, 8}) {
    Job job(size);
    std::atomic<int> wrong{0};
    job.run([&](int, Engine& engine, Session& session) {
      Sum sum;
      for (int i = 0; i < 200; ++i)
        if (agree(engine, session, i % 2 == 0 ? ReduceSpec{} : ReduceSpec::star(), sum) !=
            (1L << size) - 1)
          ++wrong;
      if (static_cast<int>(session.contributors().ranks().size()) != size) ++wrong;
    });
    CHECK(wrong == 0);
  }
}

TEST_CASE("sessions: who returns from an agreement and dies has returned what the others do") {
  for (const int victim : {0, 1, 3, 4})
    for (const ReduceSpec& spec : {ReduceSpec{}, ReduceSpec::star()}) {
      Job job(5);
      std::array<long, 5> first{};
      std::array<long, 5> second{};
      job.run([&](int rank, Engine& engine, Session& session) {
        Sum sum;
        first[static_cast<std::size_t>(rank)] = agree(engine, session, spec, sum);
        if (rank == victim) return job.die(rank);
        second[static_cast<std::size_t>(rank)] = agree(engine, session, spec, sum);
      });
      for (int rank = 0; rank < 5; ++rank) {
        CAPTURE(victim);
        CAPTURE(rank);
        CHECK(first[static_cast<std::size_t>(rank)] == 31);
        if (rank != victim) CHECK(second[static_cast<std::size_t>(rank)] == 31 - (1L << victim));
      }
    }
}

TEST_CASE("sessions: nobody returns from an agreement of which no other process has heard") {
  Job job(4);
  for (int other = 1; other < 4; ++other) job.wire.cut(0, other);
  std::atomic<int> combined{0};
  std::atomic<int> returned{0};
  std::atomic<bool> has_returned_first{false};
  std::array<long, 4> result{};
  // Once 0 has all contributions, the others take it for dead; when they have returned, it them.
  std::thread fate([&] {
    while (combined < 3) std::this_thread::yield();
    job.die(0);
    while (returned < 3) std::this_thread::yield();
    for (int other = 1; other < 4; ++other) job.engines[0]->report_failure(other);
  });
  job.run([&](int rank, Engine& engine, Session& session) {
    Sum sum;
    Counted counted(combined);
    Combiner& combiner = rank == 0 ? static_cast<Combiner&>(counted) : sum;
    result[static_cast<std::size_t>(rank)] = agree(engine, session, ReduceSpec::star(), combiner);
    if (rank == 0)
      has_returned_first = returned < 3;
    else
      ++returned;
  });
  fate.join();
  CHECK_FALSE(has_returned_first);
  for (int rank = 1; rank < 4; ++rank) CHECK(result[static_cast<std::size_t>(rank)] == 14);
}

TEST_CASE("sessions: an agreement that is not waited for comes to the same") {
  Job job(5);
  std::atomic<int> wrong{0};
  job.run([&](int rank, Engine& engine, Session& session) {
    if (rank == 2) return job.die(rank);
    Lock lock = engine.lock();
    const long own = 1L << rank;
    long result = -1;
    Sum sum;
    Started started(session);
    started.agree(ReduceSpec{}, std::as_bytes(std::span(&own, 1)), sum);
    engine.wait_until(lock, [&] {
      return started.advance([&](std::span<const std::byte> bytes) {
        std::memcpy(&result, bytes.data(), sizeof result);
      });
    });
    if (result != 27 || session.members().size() != 4) ++wrong;
  });
  CHECK(wrong == 0);
}
