#include "runtime/transports/router.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "doctest/doctest.h"

namespace resprout::runtime {
namespace {

struct Log final : Receiver {
  std::byte* allocate_payload(int, const FrameHeader&, std::size_t) override { return nullptr; }
  void abandon_payload(int, std::byte*) override {}
  void handle_frame(int peer, const FrameHeader& header, std::span<const std::byte>,
                    std::span<const std::byte>, DataOwner) override {
    frames.emplace_back(peer, header.operation);
  }
  std::vector<std::pair<int, std::uint64_t>> frames;
};

// Ranks 0 and 1 share a host, rank 2 is elsewhere.
struct Job {
  Job() {
    std::unique_ptr<ShmSegment> first = ShmSegment::create({.local_ranks = 2});
    auto second = ShmSegment::attach(first->name());
    const std::vector<int> local = {0, 1};
    std::array<std::unique_ptr<ShmTransport>, 3> shm = {
        std::make_unique<ShmTransport>(std::move(first), local, 0),
        std::make_unique<ShmTransport>(std::move(second), local, 1), nullptr};
    std::array<std::unique_ptr<TcpTransport>, 3> tcp;
    std::vector<TcpEndpoint> endpoints;
    for (int rank = 0; rank < 3; ++rank) {
      auto& own = tcp[static_cast<std::size_t>(rank)];
      own = std::make_unique<TcpTransport>(rank, auth::Secret{}, "127.0.0.1");
      endpoints.push_back({"127.0.0.1", own->port()});
    }
    for (std::size_t rank = 0; rank < 3; ++rank) {
      tcp[rank]->set_peers(endpoints);
      routers.push_back(std::make_unique<Router>(std::move(shm[rank]), std::move(tcp[rank])));
    }
  }

  void send(std::size_t from, int to, std::uint64_t operation) {
    Transfer transfer;
    while (!routers[from]->try_send(to, {.operation = operation}, {}, {}, transfer)) progress();
    while (!routers[from]->is_flushed()) progress();
    CHECK(transfer.pending == 0);
  }
  void progress() {
    for (std::size_t rank = 0; rank < 3; ++rank) routers[rank]->progress(logs[rank]);
  }

  std::vector<std::unique_ptr<Router>> routers;
  std::array<Log, 3> logs;
};

using Frames = std::vector<std::pair<int, std::uint64_t>>;

TEST_CASE("the router reaches the same host and others alike") {
  Job job;
  job.send(0, 1, 1);
  job.send(0, 2, 2);
  job.send(2, 0, 3);
  job.send(1, 0, 4);
  job.send(2, 1, 5);
  while (job.logs[0].frames.size() < 2 || job.logs[1].frames.size() < 2 ||
         job.logs[2].frames.empty())
    job.progress();
  std::ranges::sort(job.logs[0].frames);
  std::ranges::sort(job.logs[1].frames);
  CHECK(job.logs[0].frames == Frames{{1, 4}, {2, 3}});
  CHECK(job.logs[1].frames == Frames{{0, 1}, {2, 5}});
  CHECK(job.logs[2].frames == Frames{{0, 2}});
}

TEST_CASE("what is sent to a closed peer vanishes, on either way") {
  Job job;
  for (const int peer : {1, 2}) job.routers[0]->close_peer(peer, job.logs[0]);
  job.send(0, 1, 1);
  job.send(0, 2, 2);
  for (int turn = 0; turn < 100; ++turn) job.progress();
  CHECK(job.logs[1].frames.empty());
  CHECK(job.logs[2].frames.empty());
}

TEST_CASE("either transport alone will do") {
  Router alone(nullptr, nullptr);
  Log log;
  CHECK_FALSE(alone.progress(log));
  CHECK(alone.is_flushed());
  CHECK(alone.allocate_shared(10) == nullptr);
  CHECK(alone.pollable_fd() == -1);
  CHECK(alone.rejected_connections() == 0);
}

}  // namespace
}  // namespace resprout::runtime
