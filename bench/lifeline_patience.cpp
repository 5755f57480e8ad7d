// What local health is worth to lifelines on busy cores: how often processes that live are accused
// of silence, and how many of them are lost, with it and without it.
//
//   lifeline_patience [TIMEOUT_MS [SECONDS]]     of heartbeats, 50; for so long, at most 40, 20
//
// Two jobs of 16 processes run at once, so that both have the same load; every process pretends to
// be on a host of its own. 8 processes a core keep the cores busy. Nobody is killed or stopped:
// each accusation and each loss is a wrong one.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "runtime/lifeline/lifeline.hpp"
#include "runtime/testing/processes.hpp"

namespace {

using namespace resprout::runtime;
using testing::nap_ms;

constexpr int procs = 16;

struct Job {
  std::atomic<int> listening, connected;
  PeerAddress addresses[procs];
  std::atomic<std::uint64_t> accusations[procs];
  std::atomic<bool> is_lost[procs];
};

struct Board {
  Job with, without;
  std::atomic<bool> is_over;
};

void run_rank(int rank, Job& job, const Board& board, std::int64_t timeout_ns, bool heeds_health) {
  LifelineOptions options;
  options.rank = rank;
  options.secret.fill(0x77);
  options.heartbeat_period_ns = timeout_ns / 10;
  options.heartbeat_timeout_ns = timeout_ns;
  options.heeds_local_health = heeds_health;
  options.on_loss = [&](const Loss& loss) { job.is_lost[loss.rank] = true; };
  Lifeline lifeline(options);
  job.addresses[rank] = lifeline.listen();
  job.addresses[rank].host_id[0] = static_cast<std::uint8_t>(rank);
  ++job.listening;
  while (job.listening < procs) nap_ms(1);
  lifeline.connect(job.addresses, make_view_tree({4}, {job.addresses, {}}));
  ++job.connected;
  while (!board.is_over) {
    nap_ms(10);
    job.accusations[rank] = lifeline.accusations();
  }
  // Not a word more: what happens at the end is no matter of patience.
  _exit(0);
}

void print(const char* name, const Job& job) {
  std::uint64_t accusations = 0;
  for (const auto& count : job.accusations) accusations += count;
  std::printf("%-22s %6llu accusations, %2d of %d lost\n", name,
              static_cast<unsigned long long>(accusations),
              static_cast<int>(std::ranges::count_if(
                  job.is_lost, [](const auto& is_lost) { return is_lost.load(); })),
              procs);
}

int number(const char* text, int low, int high) {
  return static_cast<int>(std::clamp(std::strtol(text, nullptr, 10), long{low}, long{high}));
}

}  // namespace

int main(int argc, char** argv) {
  const int timeout_ms = argc > 1 ? number(argv[1], 10, 60'000) : 50;
  const int seconds = argc > 2 ? number(argv[2], 1, 40) : 20;
  const std::int64_t timeout_ns = std::int64_t{timeout_ms} * 1'000'000;
  testing::Shared<Board> board;
  const testing::Processes with(
      procs, [&](int rank) { run_rank(rank, board->with, *board, timeout_ns, true); });
  const testing::Processes without(
      procs, [&](int rank) { run_rank(rank, board->without, *board, timeout_ns, false); });
  // The load comes when all are connected.
  while (board->with.connected < procs || board->without.connected < procs) {
    for (int rank = 0; rank < procs; ++rank)
      if (!with.is_running(rank) || !without.is_running(rank)) {
        std::fprintf(stderr, "lost before all were connected: give a longer TIMEOUT_MS\n");
        return 1;
      }
    nap_ms(1);
  }
  const int burners = 8 * static_cast<int>(std::thread::hardware_concurrency());
  const testing::Processes load(burners, [&](int) {
    while (!board->is_over) continue;
  });
  nap_ms(seconds * 1000);
  // Before anybody ends.
  print("with local health", board->with);
  print("without local health", board->without);
  board->is_over = true;
  return 0;
}
