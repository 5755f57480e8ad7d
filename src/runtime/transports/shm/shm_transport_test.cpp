#include "runtime/transports/shm/shm_transport.hpp"

#include <dirent.h>

#include <atomic>
#include <numeric>
#include <string>

#include "doctest/doctest.h"
#include "runtime/testing/traffic.hpp"

namespace resprout::runtime {
namespace {

using testing::expect;
using testing::nap_ms;
using testing::Processes;
using testing::Shared;
using testing::Traffic;
using testing::TrafficBoard;
using testing::TrafficPlan;

std::vector<int> all_ranks(int procs) {
  std::vector<int> ranks(static_cast<std::size_t>(procs));
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

void run_rank(const std::string& name, int rank, const TrafficPlan& plan, TrafficBoard& board) {
  auto segment = ShmSegment::attach(name);
  ++board.ready;
  ShmTransport transport(std::move(segment), all_ranks(plan.procs), rank);
  Traffic(rank, plan, transport, board).run();
}

// Runs the plan to its end; `victim` (if not negative) is killed after it has received something.
void check(const TrafficPlan& plan, ShmSizes sizes, int victim = -1) {
  sizes.local_ranks = static_cast<std::uint32_t>(plan.procs);
  auto segment = ShmSegment::create(sizes);
  Shared<TrafficBoard> board;
  const std::string name = segment->name();
  Processes ranks(plan.procs, [&](int rank) { run_rank(name, rank, plan, *board); });
  while (board->ready < plan.procs) nap_ms(1);
  segment->unlink();
  segment.reset();
  if (victim >= 0) {
    while (board->frames[victim] < 20) nap_ms(1);
    ranks.signal(victim, SIGKILL);
    CHECK(ranks.wait(victim) == -SIGKILL);
    board->dead = 1u << victim;
  }
  for (int rank = 0; rank < plan.procs; ++rank)
    if (rank != victim) CHECK(ranks.wait(rank) == 0);
}

TEST_CASE("frames of every size arrive whole and in order, between 2 to 6 processes") {
  for (int procs = 2; procs <= 6; ++procs)
    check({.procs = procs, .frames = 240 / procs, .seed = static_cast<std::uint64_t>(procs)}, {});
}

TEST_CASE("as many processes as use the bitmaps, with one of them killed") {
  check({.procs = 20, .frames = 6, .bytes_max = 100000, .seed = 21}, {});
  check({.procs = 18, .frames = 6, .bytes_max = 100000, .seed = 22, .endless = true}, {}, 17);
}

TEST_CASE("the smallest ring carries the largest frames") {
  check({.procs = 3, .frames = 60, .seed = 9}, {.ring_bytes = 4096});
}

TEST_CASE("a receiver that comes late holds its senders back and misses nothing") {
  check({.procs = 4, .frames = 300, .bytes_max = 20000, .seed = 5, .late_ms = 200}, {});
}

TEST_CASE("data in the arena arrives without being copied, and the rest as ever") {
  check({.procs = 3, .frames = 60, .seed = 6, .in_arena = true}, {.arena_bytes = 1 << 26});
  check({.procs = 2, .frames = 60, .seed = 7, .in_arena = true}, {.arena_bytes = 1 << 20});
}

TEST_CASE("a process that is killed in the middle of its streams blocks nobody") {
  for (int victim = 0; victim < 4; ++victim)
    check({.procs = 4,
           .frames = 60,
           .seed = 11 + static_cast<std::uint64_t>(victim),
           .endless = true},
          {.ring_bytes = 16384}, victim);
}

// Two ends of one segment in one process.
struct Pair {
  Pair() {
    std::unique_ptr<ShmSegment> first = ShmSegment::create({.local_ranks = 2, .ring_bytes = 4096});
    auto second = ShmSegment::attach(first->name());
    const std::vector<int> ranks = {4, 9};
    a = std::make_unique<ShmTransport>(std::move(first), ranks, 0);
    b = std::make_unique<ShmTransport>(std::move(second), ranks, 1);
  }
  std::unique_ptr<ShmTransport> a, b;
};

struct Log final : Receiver {
  std::byte* allocate_payload(int, const FrameHeader&, std::size_t bytes) override {
    payload.resize(bytes);
    return payload.data();
  }
  void abandon_payload(int, std::byte*) override { ++abandoned; }
  void handle_frame(int peer, const FrameHeader& header, std::span<const std::byte>,
                    std::span<const std::byte> data, DataOwner owner) override {
    peers.push_back(peer);
    operations.push_back(header.operation);
    last = data;
    last_owner = owner;
  }
  std::vector<std::byte> payload;
  std::vector<int> peers;
  std::vector<std::uint64_t> operations;
  std::span<const std::byte> last;
  DataOwner last_owner = DataOwner::transport;
  int abandoned = 0;
};

TEST_CASE("what a peer had said when it was closed is delivered, and nothing after that") {
  const Pair pair;
  Transfer transfer;
  Log log;
  for (std::uint64_t i = 0; i < 5; ++i)
    REQUIRE(pair.a->try_send(9, {.operation = i}, {}, {}, transfer));
  pair.b->close_peer(4, log);
  CHECK(log.operations == std::vector<std::uint64_t>{0, 1, 2, 3, 4});
  REQUIRE(pair.a->try_send(9, {.operation = 5}, {}, {}, transfer));
  CHECK_FALSE(pair.b->progress(log));
}

TEST_CASE("peers are world ranks, and only those of the host are reached") {
  const Pair pair;
  CHECK(pair.a->reaches(9));
  CHECK_FALSE(pair.a->reaches(5));
  CHECK_FALSE(pair.a->reaches(1000));
  Transfer transfer;
  Log log;
  REQUIRE(pair.a->try_send(9, {.operation = 3}, {}, {}, transfer));
  CHECK(pair.b->progress(log));
  CHECK(log.peers == std::vector<int>{4});
  CHECK(log.operations == std::vector<std::uint64_t>{3});
  CHECK_FALSE(pair.b->progress(log));
}

TEST_CASE("a full ring refuses, and takes again what was refused") {
  const Pair pair;
  Transfer transfer;
  Log log;
  std::uint64_t sent = 0;
  while (pair.a->try_send(9, {.operation = sent}, {}, {}, transfer)) ++sent;
  CHECK(sent == 4096 / 64 - 1);
  CHECK(transfer.pending == 0);
  CHECK(pair.a->is_flushed());
  while (pair.b->progress(log)) {
  }
  CHECK(pair.a->try_send(9, {.operation = sent}, {}, {}, transfer));
  while (pair.b->progress(log)) {
  }
  REQUIRE(log.operations.size() == sent + 1);
  for (std::uint64_t i = 0; i <= sent; ++i) CHECK(log.operations[i] == i);
}

TEST_CASE("closing a peer lowers its transfers and gives back what has half arrived") {
  const Pair pair;
  Transfer transfer;
  Log a_log, b_log;
  const std::vector<std::byte> data(100000);
  REQUIRE(pair.a->try_send(9, {}, {}, data, transfer));
  CHECK(transfer.pending == 1);
  CHECK_FALSE(pair.a->is_flushed());
  CHECK_FALSE(pair.a->try_send(9, {}, {}, {}, transfer));
  pair.b->progress(b_log);
  pair.a->progress(a_log);
  pair.b->close_peer(4, b_log);
  CHECK(b_log.abandoned == 1);
  CHECK_FALSE(pair.b->progress(b_log));
  pair.a->close_peer(9, a_log);
  CHECK(transfer.pending == 0);
  CHECK(pair.a->is_flushed());
  CHECK(pair.a->try_send(9, {}, {}, data, transfer));
  CHECK(transfer.pending == 0);
}

TEST_CASE("data in the arena stays readable where it is until it is freed") {
  const Pair pair;
  Transfer transfer;
  Log log;
  std::byte* const block = pair.a->allocate_shared(100000);
  REQUIRE(block != nullptr);
  const std::vector<std::byte> elsewhere(100000);
  CHECK(pair.a->passes_by_reference(9, {block, 100000}));
  CHECK_FALSE(pair.a->passes_by_reference(9, elsewhere));
  CHECK_FALSE(pair.a->passes_by_reference(8, {block, 100000}));
  block[0] = std::byte{1};
  REQUIRE(pair.a->try_send(9, {}, {}, {block, 100000}, transfer));
  CHECK(transfer.pending == 0);
  REQUIRE(pair.b->progress(log));
  CHECK(log.last_owner == DataOwner::shared);
  REQUIRE(log.last.size() == 100000);
  CHECK(log.last[0] == std::byte{1});
  block[0] = std::byte{2};
  CHECK(log.last[0] == std::byte{2});
  pair.a->free_shared(block);
  CHECK(pair.a->allocate_shared(64) == block);
}

TEST_CASE("who withdraws goes on by itself: the others see what it has written before, and that") {
  auto segment = ShmSegment::create({.local_ranks = 2});
  const std::string name = segment->name();
  Shared<std::atomic<int>> step;
  Processes leaver(1, [&](int) {
    auto own = ShmSegment::attach(name);
    auto other = ShmSegment::create({.local_ranks = 2, .arena_bytes = 1 << 16});
    own->arena(1)[0] = std::byte{7};
    own->arena(1)[100'000] = std::byte{8};
    expect(!own->has_withdrawn(0) && !own->has_withdrawn(1), "nobody has withdrawn");
    expect(ShmSegment::withdraw_from_all(), "it can withdraw");
    own->note_withdrawn(1);
    expect(own->arena(1)[0] == std::byte{7}, "it has what it has written");
    own->arena(1)[0] = std::byte{9};
    own->board()[0] = std::byte{9};
    other->arena(0)[5] = std::byte{9};
    expect(own->arena(1)[0] == std::byte{9} && other->arena(0)[5] == std::byte{9}, "it goes on");
    own.reset();
    other.reset();
    expect(ShmSegment::withdraw_from_all(), "there is nothing to withdraw from");
    *step = 1;
  });
  while (*step == 0) nap_ms(1);
  CHECK(leaver.wait(0) == 0);
  CHECK(segment->arena(1)[0] == std::byte{7});
  CHECK(segment->arena(1)[100'000] == std::byte{8});
  CHECK(segment->board()[0] == std::byte{0});
  CHECK(segment->has_withdrawn(1));
  CHECK_FALSE(segment->has_withdrawn(0));
}

int count_open_files() {
  int count = 0;
  DIR* const directory = opendir("/proc/self/fd");
  while (readdir(directory) != nullptr) ++count;
  closedir(directory);
  return count;
}

TEST_CASE("nothing of a segment is left: no name, no descriptor, and no way in after unlink") {
  const int before = count_open_files();
  std::string name;
  {
    auto segment = ShmSegment::create({.local_ranks = 2});
    name = segment->name();
    CHECK(count_open_files() == before + 1);
    segment->unlink();
    CHECK(segment->name().empty());
    CHECK_THROWS(ShmSegment::attach(name));
  }
  CHECK(count_open_files() == before);
  CHECK_THROWS(ShmSegment::attach("/proc/self/exe"));
  CHECK_THROWS(ShmSegment::create({.local_ranks = 2, .ring_bytes = 5000}));
}

}  // namespace
}  // namespace resprout::runtime
