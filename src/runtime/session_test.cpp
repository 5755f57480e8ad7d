// Sessions over a transport in memory: each rank a thread with an engine of its own.
#include "runtime/session_test.hpp"

#include "doctest/doctest.h"
#include "runtime/blocks.hpp"
#include "runtime/collectives.hpp"

using namespace resprout;
using namespace resprout::runtime;

namespace {

// Neither commutative nor associative: its result tells how the contributions were grouped.
class Grouping final : public Combiner {
 public:
  bool is_commutative() const override { return false; }
  void combine(std::span<const std::byte> lower, std::span<std::byte> upper) override {
    unsigned long low;
    unsigned long high;
    std::memcpy(&low, lower.data(), sizeof low);
    std::memcpy(&high, upper.data(), sizeof high);
    high = (low * 31 + high) * 1000003 + 7;
    std::memcpy(upper.data(), &high, sizeof high);
  }
};

}  // namespace

TEST_CASE("a star groups contributions as the binomial tree does, whoever the root is") {
  for (const int size : {2, 3, 4, 5, 6, 7, 8, 13, 16}) {
    CAPTURE(size);
    Job job(size);
    std::atomic<int> wrong{0};
    job.run([&](int rank, Engine& engine, Session& session) {
      const auto result_of = [&](const ReduceSpec& spec, int root) {
        const long value = 1000 + rank;
        unsigned long result = 0;
        Grouping grouping;
        Lock lock = engine.lock();
        const auto consume = [&](std::span<const std::byte> bytes) {
          std::memcpy(&result, bytes.data(), sizeof result);
        };
        const auto input = std::as_bytes(std::span(&value, 1));
        if (root < 0)
          allreduce(session, lock, spec, input, grouping, consume);
        else
          reduce(session, lock, spec, root, input, grouping, consume);
        return result;
      };
      for (const int root : {-1, 0, size / 2, size - 1}) {
        const unsigned long by_tree = result_of(ReduceSpec{}, root);
        if (result_of(ReduceSpec::star(), root) != by_tree) wrong.fetch_add(1);
        if ((root < 0 || root == rank) && by_tree == 0) wrong.fetch_add(1);
      }
    });
    CHECK(wrong.load() == 0);
  }
}

TEST_CASE("sessions: everybody gets the sum of all, a thousand times") {
  for (const int size : {1, 2, 3, 4, 7, 8}) {
    Job job(size);
    std::atomic<int> wrong{0};
    job.run([&](int rank, Engine& engine, Session& session) {
      for (long i = 0; i < 1000; ++i)
        if (allreduce(engine, session, rank + i) != size * (size - 1) / 2 + size * i) ++wrong;
    });
    CHECK(wrong == 0);
  }
}

TEST_CASE("sessions: after a loss the survivors go on with the sum of the survivors") {
  for (const int victim : {0, 1, 5, 7}) {
    Job job(8);
    std::atomic<int> wrong{0};
    job.run([&](int rank, Engine& engine, Session& session) {
      for (long i = 0; i < 100; ++i) {
        if (rank == victim && i == 50) return job.die(rank);
        const long sum = allreduce(engine, session, 1L << rank);
        if (sum != 255 && sum != 255 - (1L << victim)) ++wrong;
        if (i > 51 && sum == 255) ++wrong;
      }
      const Lock lock = engine.lock();
      if (session.members().size() != 7) ++wrong;
    });
    CHECK(wrong == 0);
  }
}

TEST_CASE(
    "sessions: only the root of a reduce gets the sum, and barriers keep everything bounded") {
  Job job(5);
  std::atomic<int> wrong{0};
  job.run([&](int rank, Engine& engine, Session& session) {
    for (int i = 0; i < 500; ++i) {
      Lock lock = engine.lock();
      const long value = rank;
      long result = -1;
      Sum sum;
      reduce(session, lock, ReduceSpec{}, i % 5, std::as_bytes(std::span(&value, 1)), sum,
             [&](std::span<const std::byte> bytes) {
               std::memcpy(&result, bytes.data(), sizeof result);
             });
      if (result != (rank == i % 5 ? 10 : -1)) ++wrong;
    }
  });
  CHECK(wrong == 0);
}

TEST_CASE("sessions: everybody knows whose data are in the last result") {
  for (const bool is_star : {false, true}) {
    Job job(6, is_star);
    std::atomic<int> wrong{0};
    job.run([&](int rank, Engine& engine, Session& session) {
      const auto check = [&](const std::vector<int>& expected) {
        if (session.contributors().ranks() != expected) ++wrong;
      };
      check({});
      allreduce(engine, session, rank);
      check({0, 1, 2, 3, 4, 5});
      const long payload = 7;
      const auto broadcast = [&](int root) {
        Lock lock = engine.lock();
        runtime::broadcast(session, lock, is_star ? BroadcastSpec::star() : BroadcastSpec{}, root,
                           std::as_bytes(std::span(&payload, 1)), nullptr);
      };
      broadcast(4);
      check({4});
      if (rank == 2) return job.die(rank);
      {
        Lock lock = engine.lock();
        barrier(session, lock);
      }
      check({0, 1, 3, 4, 5});
      {
        Lock lock = engine.lock();
        Sum sum;
        reduce(session, lock, ReduceSpec{}, 3, std::as_bytes(std::span(&payload, 1)), sum, nullptr);
      }
      check({0, 1, 3, 4, 5});
      broadcast(2);
      check({});
    });
    CHECK(wrong == 0);
  }
}

TEST_CASE("sessions: everybody gets what each root broadcasts, small and large") {
  for (const bool is_star : {false, true}) {
    const BroadcastSpec spec = is_star ? BroadcastSpec::star() : BroadcastSpec{};
    Job job(6, is_star);
    std::atomic<int> wrong{0};
    job.run([&](int rank, Engine& engine, Session& session) {
      for (int i = 0; i < 600; ++i) {
        const int root = i / 7 % 6;
        std::vector<long> values(i % 50 == 0   ? 200000
                                 : i % 50 == 1 ? 0
                                 : i % 50 == 2 ? 20000
                                               : 10,
                                 rank == root ? i : -1);
        Lock lock = engine.lock();
        const Outcome outcome =
            broadcast(session, lock, spec, root, std::as_bytes(std::span(values)),
                      [&](std::span<const std::byte> bytes) {
                        if (bytes.size() != values.size() * sizeof(long)) ++wrong;
                        if (rank != root && !bytes.empty())
                          std::memcpy(values.data(), bytes.data(), bytes.size());
                      });
        if (!outcome.is_delivered) ++wrong;
        if (!values.empty() && (values.front() != i || values.back() != i)) ++wrong;
      }
    });
    CHECK(wrong == 0);
  }
}

// What each rank got of 60 broadcasts by `root`: 1 + the value, 0: a failure. `victim` dies before
// the 30th.
using Got = std::array<std::array<std::atomic<int>, 60>, 6>;
void broadcast_until_loss(Got& got, bool is_star, int root, int victim) {
  const BroadcastSpec spec = is_star ? BroadcastSpec::star() : BroadcastSpec{};
  Job job(6, is_star);
  job.run([&](int rank, Engine& engine, Session& session) {
    for (int i = 0; i < 60; ++i) {
      if (rank == victim && i == 30) return job.die(rank);
      long value = rank == root ? i : -1;
      Lock lock = engine.lock();
      const Outcome outcome =
          broadcast(session, lock, spec, root, std::as_bytes(std::span(&value, 1)),
                    [&](std::span<const std::byte> bytes) {
                      if (rank != root) std::memcpy(&value, bytes.data(), bytes.size());
                    });
      got[static_cast<std::size_t>(rank)][static_cast<std::size_t>(i)] =
          outcome.is_delivered ? 1 + static_cast<int>(value) : 0;
    }
  });
}

BroadcastSpec gossip(protocols::Correction correction) {
  BroadcastSpec spec;
  spec.correction = {.kind = correction, .distance = 1};
  spec.gossip_rounds = 3;
  return spec;
}

TEST_CASE("sessions: any tree, gossip, and any correction carries broadcasts") {
  using protocols::Correction;
  using topology::Numbering;
  using topology::Shape;
  const BroadcastSpec specs[] = {
      {Shape::grown, Numbering::interleaved, 3, {.kind = Correction::failure_proof}},
      {Shape::grown, Numbering::interleaved, 2, {.kind = Correction::delayed, .delay = 1000}},
      {Shape::kary,
       Numbering::in_order,
       3,
       {.kind = Correction::opportunistic, .distance = 2, .sides = protocols::Sides::right}},
      {Shape::binomial, Numbering::interleaved, 2, {.kind = Correction::checked}},
      gossip(Correction::checked),
      gossip(Correction::opportunistic),
      gossip(Correction::none),
  };
  for (const BroadcastSpec& spec : specs) {
    Job job(7);
    std::atomic<int> wrong{0};
    job.run([&](int rank, Engine& engine, Session& session) {
      for (int i = 0; i < 200; ++i) {
        if (rank == 2 && i == 100) return job.die(rank);
        const int root = i % 2;
        long value = rank == root ? i : -1;
        Lock lock = engine.lock();
        const Outcome outcome =
            broadcast(session, lock, spec, root, std::as_bytes(std::span(&value, 1)),
                      [&](std::span<const std::byte> bytes) {
                        if (rank != root) std::memcpy(&value, bytes.data(), bytes.size());
                      });
        if (!outcome.is_delivered || value != i) ++wrong;
      }
    });
    CHECK(wrong == 0);
  }
}

// Nobody's patience would end while the test runs.
TEST_CASE("sessions: large payloads are offered on the ring, and only who lacks them takes them") {
  for (const int victim : {1, 3, -1}) {
    CAPTURE(victim);
    Job job(8);
    std::atomic<int> wrong{0};
    job.run([&](int rank, Engine& engine, Session& session) {
      if (rank == victim) return job.die(rank);
      BroadcastSpec spec;
      spec.correction.kind = protocols::Correction::checked;
      spec.patience_ns = Duration{1} << 60;
      std::vector<long> values(5000, rank == 0 ? 7 : -1);
      Lock lock = engine.lock();
      const Outcome outcome = broadcast(session, lock, spec, 0, std::as_bytes(std::span(values)),
                                        [&](std::span<const std::byte> bytes) {
                                          if (rank != 0)
                                            std::memcpy(values.data(), bytes.data(), bytes.size());
                                        });
      if (!outcome.is_delivered || values.front() != 7 || values.back() != 7) ++wrong;
    });
    CHECK(wrong == 0);
    CHECK(job.wire.sent_as(MessageKind::correction).frames > 0);
    CHECK(job.wire.sent_as(MessageKind::correction).bytes == 0);
    // In the tree of eight three processes are below 1, and one below 3. Who is supplied sends to
    // its own children, perhaps before the one that they have asked.
    const int pulls = job.wire.sent_as(MessageKind::pull).frames;
    const int supplies = job.wire.sent_as(MessageKind::supply).frames;
    CHECK(pulls <= (victim == 1 ? 3 : victim == 3 ? 1 : 0));
    CHECK(supplies <= pulls);
    CHECK((supplies > 0) == (victim > 0));
  }
}

TEST_CASE("sessions: a broadcast whose root died is delivered by all survivors or by none") {
  for (const bool is_star : {false, true}) {
    for (const int victim : {0, 3}) {
      Got got{};
      broadcast_until_loss(got, is_star, victim, victim);
      const std::size_t survivor = victim == 0 ? 1 : 0;
      for (std::size_t i = 0; i < 60; ++i) {
        for (std::size_t rank = 0; rank < 6; ++rank)
          if (static_cast<int>(rank) != victim) CHECK(got[rank][i] == got[survivor][i]);
        if (i < 30) CHECK((got[survivor][i] == 0 || got[survivor][i] == static_cast<int>(i) + 1));
        if (i >= 30) CHECK(got[survivor][i] == 0);
      }
    }
  }
}

TEST_CASE("sessions: broadcasts are delivered by all survivors while the root lives") {
  for (const bool is_star : {false, true}) {
    for (const int victim : {1, 4}) {
      Got got{};
      broadcast_until_loss(got, is_star, 0, victim);
      for (std::size_t i = 0; i < 60; ++i)
        for (std::size_t rank = 0; rank < 6; ++rank)
          if (static_cast<int>(rank) != victim) CHECK(got[rank][i] == static_cast<int>(i) + 1);
    }
  }
}

// A contribution that says whose it is and which operation it is for; longer for higher ranks.
Buffer contribution(Session& session, int rank, int number, std::size_t bytes) {
  Buffer row = session.allocate(block_bytes(bytes));
  const auto data = BlockWriter({row.data(), row.size()}).begin(rank, bytes);
  for (std::size_t i = 0; i < bytes; ++i)
    data[i] = static_cast<std::byte>(rank * 31 + number * 7 + static_cast<int>(i % 251));
  return row;
}

// Who has a block, as bits; -1 if a block is not what its rank has contributed, or is not in order.
long ranks_in(std::span<const std::byte> row, int number, const std::vector<std::size_t>& bytes) {
  long ranks = 0;
  BlockReader reader(row);
  while (const auto block = reader.next()) {
    const auto rank = static_cast<std::size_t>(block->rank);
    if (block->data.size() != bytes[rank] || ranks >> rank != 0) return -1;
    for (std::size_t i = 0; i < bytes[rank]; ++i)
      if (block->data[i] !=
          static_cast<std::byte>(block->rank * 31 + number * 7 + static_cast<int>(i % 251)))
        return -1;
    ranks |= 1L << rank;
  }
  return ranks;
}

std::vector<std::size_t> lengths(int size, std::size_t longest) {
  std::vector<std::size_t> bytes(static_cast<std::size_t>(size));
  for (std::size_t rank = 0; rank < bytes.size(); ++rank)
    bytes[rank] = rank * longest / bytes.size();
  return bytes;
}

TEST_CASE("sessions: contributions of different lengths are put together in the order of ranks") {
  for (const int size : {1, 2, 3, 5, 8, 13}) {
    for (const ReduceSpec& spec : {ReduceSpec{}, ReduceSpec::star()}) {
      Job job(size);
      std::atomic<int> wrong{0};
      job.run([&](int rank, Engine& engine, Session& session) {
        for (int i = 0; i < 60; ++i) {
          // The last sum up to more than `large_bytes`.
          const auto bytes = lengths(size, i < 56 ? static_cast<std::size_t>(i * 40) : 600000);
          const auto mine = bytes[static_cast<std::size_t>(rank)];
          long everywhere = 0;
          long at_root = 0;
          Lock lock = engine.lock();
          allgather(session, lock, spec, contribution(session, rank, i, mine),
                    [&](std::span<const std::byte> row) { everywhere = ranks_in(row, i, bytes); });
          gather(session, lock, spec, 0, contribution(session, rank, i, mine),
                 [&](std::span<const std::byte> row) { at_root = ranks_in(row, i, bytes); });
          if (everywhere != (1L << size) - 1) ++wrong;
          if (at_root != (rank == 0 ? everywhere : 0)) ++wrong;
        }
      });
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("sessions: all survivors put together the same contributions") {
  for (const int victim : {0, 1, 5, 7}) {
    Job job(8);
    std::array<std::array<std::atomic<long>, 40>, 8> got{};
    job.run([&](int rank, Engine& engine, Session& session) {
      const auto bytes = lengths(8, 3000);
      for (int i = 0; i < 40; ++i) {
        if (rank == victim && i == 20) return job.die(rank);
        Lock lock = engine.lock();
        const auto mine = bytes[static_cast<std::size_t>(rank)];
        const auto keep = [&](std::span<const std::byte> row) {
          got[static_cast<std::size_t>(rank)][static_cast<std::size_t>(i)] =
              ranks_in(row, i, bytes);
        };
        gather(session, lock, ReduceSpec{}, i % 8, contribution(session, rank, i, mine), nullptr);
        allgather(session, lock, ReduceSpec{}, contribution(session, rank, i, mine), keep);
      }
    });
    for (std::size_t i = 0; i < 40; ++i) {
      const long first = got[victim == 0 ? 1 : 0][i];
      for (std::size_t rank = 0; rank < 8; ++rank)
        if (static_cast<int>(rank) != victim) CHECK(got[rank][i] == first);
      if (i < 19) CHECK(first == 255);
      if (i >= 20) CHECK(first == 255 - (1L << victim));
    }
  }
}

TEST_CASE("a death that one has posted ends what the others of its host wait for") {
  for (const int size : {2, 3, 5, 8}) {
    CAPTURE(size);
    Job job(size, false, size);
    const int victim = size - 1;
    job.run([&](int rank, Engine& engine, Session& session) {
      REQUIRE(allreduce(engine, session, 1) == size);
      if (rank == victim) {
        job.is_dead[static_cast<std::size_t>(rank)] = true;
        job.engines[0]->report_death(victim);  // as its lifeline would
        return;
      }
      CHECK(allreduce(engine, session, 1) == size - 1);
      CHECK(engine.losses().is_lost(victim));
      CHECK(engine.losses().count() == 1);
    });
  }
}

TEST_CASE("who waits sees the death mark of one that died, and tells the others of its host") {
  for (const int size : {2, 3, 5, 8}) {
    CAPTURE(size);
    Job job(size, false, size);
    const int victim = size - 1;
    std::atomic<int> found{0};
    for (auto& engine : job.engines)
      engine->watch_death_marks([&](int rank) {
        CHECK(rank == victim);
        ++found;
      });
    job.run([&](int rank, Engine& engine, Session& session) {
      REQUIRE(allreduce(engine, session, 1) == size);
      if (rank == victim) {
        job.is_dead[static_cast<std::size_t>(rank)] = true;
        job.wire.mark_death(victim);
        return;
      }
      CHECK(allreduce(engine, session, 1) == size - 1);
      CHECK(engine.writes_no_more(victim));
    });
    CHECK(found >= 1);
  }
}

TEST_CASE("sessions: a tick says whether anything goes on that others may wait for") {
  Job job(2);
  std::atomic<bool> is_quiet{false};
  job.run([&](int rank, Engine& engine, Session& session) {
    CHECK(allreduce(engine, session, 1) == 2);
    if (rank == 1) {
      while (!is_quiet) std::this_thread::yield();
      CHECK(allreduce(engine, session, 1) == 2);
      return;
    }
    while (engine.tick()) std::this_thread::yield();
    CHECK_FALSE(engine.tick());
    is_quiet = true;
    while (!engine.tick()) std::this_thread::yield();  // what the other one gives comes in
    CHECK(allreduce(engine, session, 1) == 2);
    engine.report_failure(1);
    for (int i = 0; i < 10; ++i) CHECK(engine.tick());
  });
}
