// What a process says that has gone on with other members than we do: nothing of it counts.
#include "doctest/doctest.h"
#include "runtime/collectives.hpp"
#include "runtime/native_call.hpp"
#include "runtime/operation_label.hpp"
#include "runtime/session_test.hpp"

using namespace resprout;
using namespace resprout::runtime;

namespace {

// Everybody's value goes to `root` directly. -1: nobody got a result here.
long reduce(Engine& engine, Session& session, int root, long value) {
  Lock lock = engine.lock();
  Sum sum;
  long result = -1;
  reduce(
      session, lock, ReduceSpec::star(), root, std::as_bytes(std::span(&value, 1)), sum,
      [&](std::span<const std::byte> bytes) { std::memcpy(&result, bytes.data(), sizeof result); });
  return result;
}

// Somebody has said so in the operation with this number, among everybody; mostly, what it gives.
void hears(Engine& engine, Session& session, std::uint64_t number, Message message, long value,
           std::span<const std::byte> prefix = {}) {
  if (message.kind == MessageKind::tree) {
    message.kind = MessageKind::contribution;
    message.slot = Slot::accumulator;
  }
  const Lock lock = engine.lock();
  const Members& everybody = session.everybody();
  const FrameHeader header{session.id(), label_of(number, everybody.view()), message};
  session.handle_frame(everybody.world_rank(message.from), header, prefix,
                       {std::as_bytes(std::span(&value, 1))});
}

// The others' result of the first operation, which has no part of `rank`.
void hears_without_itself(Engine& engine, Session& session, int rank) {
  const Rank left_out = rank_at(rank);
  hears(engine, session, 0,
        {.from = rank_at(0), .to = left_out, .kind = MessageKind::result, .slot = Slot::result},
        0b111, std::as_bytes(std::span(&left_out, 1)));
}

// Of a library that is broken here.
class BrokenCall final : public NativeCall {
 public:
  bool run() override { return false; }
  void interrupt() override {}
  std::span<const std::byte> payload() override { return {}; }
  void take(std::span<const std::byte>) override { has_taken = true; }
  bool synchronizes() const override { return true; }
  bool has_taken = false;
};

// When so many contributions were sent in all, `rank` dies, whatever it waits for.
std::thread dies_after(Job& job, int rank, int contributions) {
  return std::thread([&job, rank, contributions] {
    while (job.wire.sent_as(MessageKind::contribution).frames < contributions)
      std::this_thread::yield();
    for (int other = 0; other < job.size; ++other) job.wire.cut(rank, other);
    job.die(rank);
    for (int other = 0; other < job.size; ++other)  // so it waits for nobody
      if (other != rank) job.engines[static_cast<std::size_t>(rank)]->report_failure(other);
  });
}

}  // namespace

// The others do not get the first sum from 0, and agree on one without it. Its part of the second
// one waits at 3, and 1 has the place now that 0 had.
TEST_CASE("who went on with a result that died with it has no part in what the survivors do next") {
  Job job(4);
  std::atomic<long> sum{-1};
  std::atomic<int> wrong{0};
  job.wire.cut(0, 1);
  job.wire.cut(0, 2);
  std::thread death = dies_after(job, 0, 3 + 1);
  job.run([&](int rank, Engine& engine, Session& session) {
    if (allreduce(engine, session, 1L << rank) != (rank == 0 ? 0b1111 : 0b1110)) ++wrong;
    const long result = reduce(engine, session, 3, 1L << rank);
    if (rank == 3) sum = result;
  });
  death.join();
  CHECK(wrong == 0);
  CHECK(sum == 0b1110);
}

// 2 is one of three for us, and has the same place among the four that it sees.
TEST_CASE("what somebody says among other members does not count, though its place is the same") {
  Job job(4);
  std::atomic<int> wrong{0};
  job.run([&](int rank, Engine& engine, Session& session) {
    if (rank == 3) return job.die(rank);
    if (rank == 1) hears(engine, session, 1, {.from = rank_at(2), .to = rank_at(1)}, 1000);
    if (allreduce(engine, session, 1L << rank) != 0b111) ++wrong;
    if (reduce(engine, session, 1, 1L << rank) != (rank == 1 ? 0b111 : -1)) ++wrong;
  });
  CHECK(wrong == 0);
}

// Who is lost may have got it, and so have gone on with something else than we do.
TEST_CASE("what somebody says who sees no failure in a broadcast that has failed does not count") {
  Job job(3, true);
  std::atomic<int> wrong{0};
  job.run([&](int rank, Engine& engine, Session& session) {
    if (rank == 0) return job.die(rank);
    if (rank == 1) hears(engine, session, 1, {.from = rank_at(2), .to = rank_at(1)}, 1000);
    Lock lock = engine.lock();
    if (broadcast(session, lock, BroadcastSpec::star(), 0, {}, nullptr).is_delivered) ++wrong;
    lock.unlock();
    if (reduce(engine, session, 1, 1L << rank) != (rank == 1 ? 0b110 : -1)) ++wrong;
  });
  CHECK(wrong == 0);
}

// 3 is suspected, and lives. What the others have agreed on reaches it before its lifeline hears.
TEST_CASE("who lives and is left out by the others fails, and begins nothing more") {
  Job job(4);
  std::atomic<int> wrong{0};
  job.run([&](int rank, Engine& engine, Session& session) {
    if (rank != 3) {
      engine.report_failure(3);
      if (allreduce(engine, session, 1L << rank) != 0b111) ++wrong;
      return;
    }
    hears_without_itself(engine, session, 3);
    if (allreduce(engine, session, 1L << rank) != -1) ++wrong;
    if (!engine.is_cut_off() || !session.is_revoked()) ++wrong;
    if (reduce(engine, session, 0, 1L << rank) != -1) ++wrong;
  });
  CHECK(wrong == 0);
}

TEST_CASE("who lives and is left out of what a library could not end does not get it either") {
  Job job(4);
  std::atomic<int> wrong{0};
  job.run([&](int rank, Engine& engine, Session& session) {
    if (rank == 3) hears_without_itself(engine, session, rank);
    if (rank != 3) engine.report_failure(3);
    Lock lock = engine.lock();
    BrokenCall call;
    if (session.run_natively(lock, call).is_delivered || call.has_taken) ++wrong;
    if (engine.is_cut_off() != (rank == 3)) ++wrong;
  });
  CHECK(wrong == 0);
}
