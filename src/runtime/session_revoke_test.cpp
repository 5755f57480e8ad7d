// Sessions that are revoked while their members wait in them: everybody gets out, and nobody out of
// an operation that was made without the others.
#include "core/random.hpp"
#include "doctest/doctest.h"
#include "runtime/collectives.hpp"
#include "runtime/session_test.hpp"

using namespace resprout;
using namespace resprout::runtime;

namespace {

std::span<const std::byte> bytes_of(const long& value) {
  return std::as_bytes(std::span(&value, 1));
}

// Notices that were sent, all together.
int notices(Job& job) { return job.wire.sent_as(MessageKind::revocation).frames; }

}  // namespace

TEST_CASE("revoke: who waits in any operation leaves it, without a result") {
  for (int trial = 0; trial < 15; ++trial)
    for (const int ranks : {2, 5, 8}) {
      const int operation = trial % 5;
      CAPTURE(operation);
      CAPTURE(ranks);
      std::atomic<int> left{0};
      std::atomic<int> results{0};
      Job job(ranks, operation % 2 == 0, std::array{0, 3, 8}[static_cast<std::size_t>(trial / 5)]);
      job.run([&](int rank, Engine& engine, Session& session) {
        const int revoker = ranks - 1;
        REQUIRE(allreduce(engine, session, 1) == ranks);
        allreduce(engine, session, 1);  // who leaves it may revoke before others do
        Lock lock = engine.lock();
        const long value = rank;
        const auto nobody = [&](std::span<const std::byte>) { ++results; };
        Sum sum;
        Outcome outcome;
        if (rank == revoker) {
          session.revoke();
        } else if (operation == 0) {
          outcome = allreduce(session, lock, ReduceSpec{}, bytes_of(value), sum, nobody);
        } else if (operation == 1) {
          outcome = barrier(session, lock);
        } else if (operation == 2) {
          outcome =
              broadcast(session, lock, BroadcastSpec::star(), revoker, bytes_of(value), nobody);
        } else if (operation == 3) {
          outcome = broadcast(session, lock, BroadcastSpec{}, revoker, bytes_of(value), nobody);
        } else {
          outcome = allgather(session, lock, ReduceSpec{}, Buffer(bytes_of(value)), nobody);
        }
        CHECK(!outcome.is_delivered);
        CHECK(session.is_revoked());
        CHECK(engine.revocation_count() == 1);
        ++left;
        // What is begun later ends as well.
        CHECK(!barrier(session, lock).is_delivered);
        CHECK(!allreduce(session, lock, ReduceSpec{}, bytes_of(value), sum, nobody).is_delivered);
        broadcast(session, lock, BroadcastSpec::star(), 0, bytes_of(value), nullptr);
      });
      CHECK(results == 0);
      CHECK(left == ranks);
    }
}

TEST_CASE("revoke: nobody gets a result without those who were revoked before") {
  constexpr int ranks = 6;
  for (unsigned seed = 0; seed < 200; ++seed) {
    CAPTURE(seed);
    std::atomic<int> wrong{0};
    Job job(ranks, seed % 2 == 0, std::array{0, 2, 4, ranks}[seed / 2 % 4]);
    job.run([&](int rank, Engine& engine, Session& session) {
      Random random(seed * 31 + static_cast<unsigned>(rank));
      const auto revokes_in = rank < 2 ? random.below(20) : 1000;
      for (unsigned i = 0; !session.is_revoked(); ++i) {
        if (i == revokes_in) {
          const Lock lock = engine.lock();
          session.revoke();
          break;
        }
        const long sum = allreduce(engine, session, 1L << rank);
        if (!session.is_revoked() && sum != 63) ++wrong;
      }
    });
    CHECK(wrong == 0);
  }
}

TEST_CASE("revoke: what a process has put on its host's board is no news to itself") {
  constexpr int ranks = 4;
  Job job(ranks, false, ranks);
  job.run([&](int rank, Engine& engine, Session& session) {
    if (rank != 1) {
      while (!session.is_revoked()) engine.tick();
      return;
    }
    Lock lock = engine.lock();
    session.revoke();
    CHECK(!engine.notices().has_unread());
    CHECK(!engine.notices().is_rung());
  });
}

TEST_CASE("revoke: other sessions of the same members go on, and a child under its own name") {
  Job job(4);
  job.run([&](int rank, Engine& engine, Session& session) {
    REQUIRE(allreduce(engine, session, 1) == 4);
    allreduce(engine, session, 1);
    Lock lock = engine.lock();
    Session& child = engine.open_session(lock, session.next_child(), {0, 1, 2, 3});
    Session& repair = engine.open_session(lock, session.child(77), {0, 1, 2, 3});
    CHECK(child.id() != repair.id());
    if (rank == 2) session.revoke();
    lock.unlock();
    for (int i = 0; i < 20; ++i) {
      CHECK(allreduce(engine, child, 1) == 4);
      CHECK(allreduce(engine, repair, 2) == 8);
    }
    CHECK(!child.is_revoked());
  });
}

TEST_CASE("revoke: who waits in a bound session leaves that, too, and nobody after its release") {
  for (const int ranks_per_host : {0, 2, 4}) {
    CAPTURE(ranks_per_host);
    Job job(4, false, ranks_per_host);
    std::atomic<int> have_released{0};
    job.run([&](int rank, Engine& engine, Session& session) {
      REQUIRE(allreduce(engine, session, 1) == 4);
      allreduce(engine, session, 1);
      while (rank == 3 && have_released < 3) engine.tick();
      Lock lock = engine.lock();
      if (rank == 3) return session.revoke();
      Session& bound = engine.open_session(lock, session.child(77), {0, 1, 2, 3});
      Session& released = engine.open_session(lock, session.child(78), {0, 1, 2});
      session.bind(released);
      session.release(released);
      ++have_released;
      session.bind(bound);
      CHECK(!barrier(bound, lock).is_delivered);  // rank 3 is never in it
      CHECK(bound.is_revoked());
      engine.wait_until(lock, [&] { return session.is_revoked(); });  // the notices may cross
      lock.unlock();
      CHECK(allreduce(engine, released, 1) == 3);
    });
  }
}

TEST_CASE(
    "revoke: nothing is sent before, and then once over each link, or twice if both ends revoke") {
  constexpr int ranks = 8;
  Job job(ranks);
  job.run([&](int rank, Engine& engine, Session& session) {
    for (int i = 0; i < 10; ++i) REQUIRE(allreduce(engine, session, 1) == ranks);
    CHECK(notices(job) == 0);
    allreduce(engine, session, 1);
    Lock lock = engine.lock();
    session.revoke();  // all of them
    session.revoke();
    engine.wait_until_flushed(lock);
    (void)rank;
  });
  constexpr int links = ranks * 5 / 2;  // v +- 1, v +- 2, v + 4
  CHECK(notices(job) >= links);
  CHECK(notices(job) <= 2 * links);
}

TEST_CASE("revoke: deaths during the flood keep nobody in") {
  constexpr int ranks = 9;
  for (unsigned seed = 0; seed < 60; ++seed) {
    CAPTURE(seed);
    std::atomic<int> left{0};
    Job job(ranks, false, std::array{0, 2, 4, ranks}[seed % 4]);
    job.run([&](int rank, Engine& engine, Session& session) {
      if (rank == 3 || rank == 5) return job.die(rank);
      if (rank == 4) {
        const Lock lock = engine.lock();
        session.revoke();
      }
      while (!session.is_revoked()) allreduce(engine, session, 1);
      ++left;
    });
    CHECK(left == ranks - 2);
  }
}

namespace {

void check_late_opening(int ranks_per_host) {
  CAPTURE(ranks_per_host);
  Job job(3, false, ranks_per_host);
  std::atomic<int> opened{0};
  job.run([&](int rank, Engine& engine, Session& session) {
    Lock lock = engine.lock();
    if (rank == 2) {
      lock.unlock();
      while (opened < 2) std::this_thread::yield();
      for (int i = 0; i < 100; ++i) engine.tick();
      lock.lock();
    }
    Session& late = engine.open_session(lock, session.child(5), {0, 1, 2});
    if (rank != 2) {
      late.revoke();
      engine.wait_until_flushed(lock);
      ++opened;
    }
    barrier(late, lock);
    CHECK(late.is_revoked());
  });
}

// All revoke; how many notices were sent.
int count_notices(Job& job) {
  job.run([&](int, Engine& engine, Session& session) {
    REQUIRE(allreduce(engine, session, 1) == job.size);
    allreduce(engine, session, 1);
    Lock lock = engine.lock();
    session.revoke();
    engine.wait_until_flushed(lock);
  });
  return notices(job);
}

}  // namespace

TEST_CASE("revoke: a notice for a session that is not open yet waits for it") {
  for (const int ranks_per_host : {0, 2, 3}) check_late_opening(ranks_per_host);
}

TEST_CASE("revoke: on the host of who knows nobody is sent a notice, unless the board is full") {
  constexpr int ranks = 8;
  constexpr int half = ranks / 2;
  Job one_host(ranks, false, ranks);
  CHECK(count_notices(one_host) == 0);
  CHECK(one_host.wire.board_of(0).at(1) == 0);  // said once

  Job two_hosts(ranks, false, half);
  const int between = count_notices(two_hosts);
  constexpr int links_between = 2 + 4 + 4;  // v + 1, v + 2, v + 4
  CHECK(between >= 1);
  CHECK(between <= 2 * links_between);

  Job full(ranks, false, ranks);
  for (std::size_t place = 0; place < NoticeBoard::notices_max; ++place)
    REQUIRE(full.wire.board_of(0).post(~place, place));
  CHECK(count_notices(full) >= ranks * 5 / 2);
}

TEST_CASE(
    "revoke: who gives way before it waits knows what others of its host have said meanwhile") {
  std::atomic<bool> is_said{false};
  Job job(2, false, 2);
  job.run([&](int rank, Engine& engine, Session& session) {
    Lock lock = engine.lock();
    if (rank == 0) {
      session.revoke();
      is_said = true;
      return;
    }
    while (!is_said) std::this_thread::yield();
    CHECK(!session.is_revoked());
    engine.give_way(lock);
    CHECK(session.is_revoked());
  });
}

TEST_CASE(
    "revoke: what a session keeps goes when its last living member has closed it, not before") {
  constexpr int ranks = 5;
  constexpr int late = 1;
  constexpr int dead = 3;
  std::atomic<int> closed{0};
  std::atomic<bool> is_late_closing{false};
  std::atomic<int> wrong{0};
  Job job(ranks);
  job.run([&](int rank, Engine& engine, Session& session) {
    const auto keeps_something = [&] {
      const Lock lock = engine.lock();
      for (std::uint64_t number = 0; number < 1000; ++number)
        if (session.find(number) != nullptr) return true;
      return false;
    };
    const auto close = [&] {
      Lock lock = engine.lock();
      engine.close_session(lock, session);
    };
    allreduce(engine, session, 1);  // what is called after the revocation is not kept
    if (rank == dead) return job.die(rank);
    if (rank == 0) {
      const Lock lock = engine.lock();
      session.revoke();
    }
    while (!session.is_revoked()) allreduce(engine, session, 1);
    allreduce(engine, session, 1);
    if (rank == late) {
      while (closed < ranks - 2) engine.tick();
      for (int i = 0; i < 200; ++i) engine.tick();
      is_late_closing = true;
      close();
    } else {
      close();
      ++closed;
      while (!is_late_closing) {
        engine.tick();
        if (!keeps_something() && !is_late_closing) ++wrong;
        std::this_thread::yield();
      }
    }
    while (keeps_something()) {
      engine.tick();
      std::this_thread::yield();
    }
  });
  CHECK(wrong == 0);
}

TEST_CASE("cut off: what waits fails, nobody hears of it, and none goes on with himself alone") {
  for (const int operation : {0, 1, 2, 3}) {
    CAPTURE(operation);
    std::atomic<int> cut{0};
    Job job(3, operation % 2 == 0);
    job.run([&](int rank, Engine& engine, Session& session) {
      REQUIRE(allreduce(engine, session, 1) == 3);
      if (rank != 2) {
        while (cut == 0) engine.tick();
        CHECK(!session.is_revoked());
        CHECK(engine.losses().count() == 0);
        return;
      }
      std::thread lifeline([&] { REQUIRE(engine.cut_off()); });
      Lock lock = engine.lock();
      const long value = rank;
      int results = 0;
      const auto nobody = [&](std::span<const std::byte>) { ++results; };
      Sum sum;
      const auto run = [&](Session& in) {
        if (operation == 0) return barrier(in, lock);
        if (operation == 1) return broadcast(in, lock, BroadcastSpec{}, 0, bytes_of(value), nobody);
        if (operation == 2)
          return allgather(in, lock, ReduceSpec{}, Buffer(bytes_of(value)), nobody);
        return allreduce(in, lock, ReduceSpec{}, bytes_of(value), sum, nobody);
      };
      CHECK(!run(session).is_delivered);
      CHECK(engine.is_cut_off());
      CHECK(engine.losses().count() == 2);
      CHECK(!run(session).is_delivered);
      Session& later = engine.open_session(lock, {0, 1, 2});
      CHECK(later.is_revoked());
      CHECK(!run(later).is_delivered);
      engine.close_session(lock, session);
      engine.drive(lock);
      CHECK(results == 0);
      lifeline.join();
      cut = 1;
    });
    CHECK(notices(job) == 0);
  }
}
