#include "runtime/transports/tcp/tcp_transport.hpp"

#include <dirent.h>

#include "doctest/doctest.h"
#include "runtime/net/clock.hpp"
#include "runtime/testing/garbage.hpp"
#include "runtime/testing/traffic.hpp"

namespace resprout::runtime {
namespace {

using testing::GarbageThrower;
using testing::nap_ms;
using testing::Processes;
using testing::Shared;
using testing::Traffic;
using testing::TrafficBoard;
using testing::TrafficPlan;

auth::Secret a_secret() {
  auth::Secret secret;
  secret.fill(0x5a);
  return secret;
}

std::vector<TcpEndpoint> endpoints(const TrafficBoard& board, int procs, const std::string& host) {
  std::vector<TcpEndpoint> out;
  for (int i = 0; i < procs; ++i)
    out.push_back({host, static_cast<std::uint16_t>(board.ports[i].load())});
  return out;
}

// Returns the connections that this rank rejected.
std::uint64_t run_rank(int rank, const TrafficPlan& plan, TrafficBoard& board,
                       const std::string& host) {
  TcpTransport transport(rank, a_secret(), host);
  board.ports[rank] = transport.port();
  ++board.ready;
  while (board.ready < plan.procs) nap_ms(1);
  transport.set_peers(endpoints(board, plan.procs, host));
  Traffic traffic(rank, plan, transport, board);
  traffic.run();
  return transport.rejected_connections();
}

// As for shared memory; `host` is the loopback address.
void check(const TrafficPlan& plan, int victim = -1, const std::string& host = "127.0.0.1") {
  Shared<TrafficBoard> board;
  Processes ranks(plan.procs, [&](int rank) { run_rank(rank, plan, *board, host); });
  if (victim >= 0) {
    while (board->frames[victim] < 20) nap_ms(1);
    ranks.signal(victim, SIGKILL);
    CHECK(ranks.wait(victim) == -SIGKILL);
    board->dead = 1u << victim;
  }
  for (int rank = 0; rank < plan.procs; ++rank)
    if (rank != victim) CHECK(ranks.wait(rank) == 0);
}

TEST_CASE("frames of every size arrive whole and in order over TCP, between 2 to 6 processes") {
  for (int procs = 2; procs <= 6; ++procs)
    check({.procs = procs, .frames = 240 / procs, .seed = static_cast<std::uint64_t>(procs)});
}

bool has_ipv6() {
  try {
    listen_on("::1");
    return true;
  } catch (const std::system_error&) {
    return false;
  }
}

TEST_CASE("IPv6 does as well") {
  if (has_ipv6()) {
    check({.procs = 2, .frames = 50, .seed = 3}, -1, "::1");
  } else {
    MESSAGE("this host has no IPv6");
  }
}

TEST_CASE("a TCP receiver that comes late holds its senders back and misses nothing") {
  check({.procs = 3, .frames = 60, .seed = 5, .late_ms = 300});
}

TEST_CASE("a process that is killed in the middle of its TCP streams blocks nobody") {
  for (int victim = 0; victim < 4; ++victim)
    check({.procs = 4,
           .frames = 60,
           .seed = 11 + static_cast<std::uint64_t>(victim),
           .endless = true},
          victim);
}

TEST_CASE("good traffic goes on while strangers throw garbage at the port") {
  Shared<TrafficBoard> board;
  Shared<std::atomic<std::uint64_t>> rejected;
  const TrafficPlan plan{.procs = 3, .frames = 150, .bytes_max = 200000, .seed = 8};
  Processes ranks(plan.procs, [&](int rank) {
    const std::uint64_t count = run_rank(rank, plan, *board, "127.0.0.1");
    if (rank == 1) *rejected = count;
  });
  while (board->ready < plan.procs) nap_ms(1);
  GarbageThrower thrower(static_cast<std::uint16_t>(board->ports[1].load()), 7);
  while (board->finished == 0 || thrower.thrown() < 300) thrower.throw_one();
  for (int rank = 0; rank < plan.procs; ++rank) CHECK(ranks.wait(rank) == 0);
  CHECK(*rejected > 0);
}

struct NoReceiver final : Receiver {
  std::byte* allocate_payload(int, const FrameHeader&, std::size_t) override { return nullptr; }
  void abandon_payload(int, std::byte*) override {}
  void handle_frame(int, const FrameHeader&, std::span<const std::byte>, std::span<const std::byte>,
                    DataOwner) override {
    ++frames;
  }
  void handle_broken_peer(int peer) override { broken.push_back(peer); }
  int frames = 0;
  std::vector<int> broken;
};

int count_open_files() {
  int count = 0;
  DIR* const directory = opendir("/proc/self/fd");
  while (readdir(directory) != nullptr) ++count;
  closedir(directory);
  return count;
}

TEST_CASE("silent strangers are few at any time and gone after the deadline") {
  TcpTransport transport(0, a_secret(), "127.0.0.1");
  transport.set_peers({{"127.0.0.1", transport.port()}, {"127.0.0.1", 1}});
  NoReceiver receiver;
  const int before = count_open_files();
  std::vector<Fd> strangers;
  for (int i = 0; i < 200; ++i) {
    strangers.push_back(connect_to("127.0.0.1", transport.port()));
    transport.progress(receiver);
  }
  for (int i = 0; i < 200; ++i) transport.progress(receiver);
  CHECK(count_open_files() - before <= 200 + 64 + 2);
  while (transport.rejected_connections() < 200) {
    transport.progress(receiver);
    nap_ms(10);
  }
  CHECK(count_open_files() - before == 200);
  CHECK(receiver.frames == 0);
  CHECK(receiver.broken.empty());
}

// Two transports in one process, for what can be seen step by step.
struct Pair {
  Pair(const auth::Secret& a_knows, const auth::Secret& b_knows)
      : a(std::make_unique<TcpTransport>(0, a_knows, "127.0.0.1")),
        b(std::make_unique<TcpTransport>(1, b_knows, "127.0.0.1")) {
    const std::vector<TcpEndpoint> peers = {{"127.0.0.1", a->port()}, {"127.0.0.1", b->port()}};
    a->set_peers(peers);
    b->set_peers(peers);
  }
  // Sends from a to b, making progress at both, for at most `turns`.
  bool send(std::span<const std::byte> data, int turns) {
    for (int turn = 0; turn < turns; ++turn) {
      if (a->try_send(1, {}, {}, data, transfer)) return true;
      a->progress(receiver);
      b->progress(receiver);
      usleep(200);
    }
    return false;
  }
  std::unique_ptr<TcpTransport> a, b;
  NoReceiver receiver;
  Transfer transfer;
};

TEST_CASE("who does not know the secret never gets a frame across") {
  auth::Secret other = a_secret();
  other[0] ^= 1;
  Pair pair(a_secret(), other);
  CHECK_FALSE(pair.send({}, 1000));
  CHECK(pair.b->rejected_connections() > 0);
  CHECK(pair.receiver.frames == 0);
  CHECK(pair.receiver.broken.empty());
}

TEST_CASE("an established connection that breaks is reported once, and later frames vanish") {
  Pair pair(a_secret(), a_secret());
  REQUIRE(pair.send({}, 100000));
  while (pair.receiver.frames == 0) pair.b->progress(pair.receiver);
  pair.b.reset();
  const std::vector<std::byte> data(100);
  while (pair.receiver.broken.empty()) pair.a->progress(pair.receiver);
  CHECK(pair.a->try_send(1, {}, {}, data, pair.transfer));
  for (int i = 0; i < 100; ++i) pair.a->progress(pair.receiver);
  CHECK(pair.receiver.broken == std::vector<int>{1});
  CHECK(pair.transfer.pending == 0);
  CHECK(pair.a->is_flushed());
}

TEST_CASE("closing a TCP peer lowers its transfers") {
  Pair pair(a_secret(), a_secret());
  REQUIRE(pair.send({}, 100000));
  const std::vector<std::byte> data(std::size_t{32} << 20);
  REQUIRE(pair.a->try_send(1, {}, {}, data, pair.transfer));
  CHECK(pair.transfer.pending == 1);
  CHECK_FALSE(pair.a->is_flushed());
  pair.a->close_peer(1, pair.receiver);
  CHECK(pair.transfer.pending == 0);
  CHECK(pair.a->is_flushed());
  CHECK(pair.a->try_send(1, {}, {}, data, pair.transfer));
}

}  // namespace
}  // namespace resprout::runtime
