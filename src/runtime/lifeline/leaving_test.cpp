// A lifeline that leaves as soon as the program has seen a death in shared memory.
#include "runtime/death_marks/death_marks.hpp"

#include <array>
#include <cstddef>

#include "runtime/lifeline/lifeline_test.hpp"

namespace resprout::runtime {
namespace {

constexpr std::array<int, 2> ranks{0, 1};

struct Host {
  alignas(64) std::array<std::byte, ranks.size() * DeathMarks::bytes_each> memory{};
  std::atomic<int> listening, connected, losses;
  PeerAddress addresses[2];

  DeathMarks death_marks() { return {memory.data(), ranks}; }
};

// Rank 1 is killed, rank 0 leaves over it.
void live(Host& host, int rank) {
  const DeathMarks death_marks = host.death_marks();
  DeathMark death_mark;
  death_mark.start(death_marks, rank);
  LifelineOptions options;
  options.rank = rank;
  options.secret.fill(0x77);
  options.on_loss = [&](const Loss& loss) {
    expect(loss.rank == 1 && loss.kind == LossKind::exited, "rank 1 was killed");
    ++host.losses;
  };
  Lifeline lifeline(options);
  host.addresses[rank] = lifeline.listen();
  ++host.listening;
  while (host.listening < 2) nap_ms(1);
  lifeline.connect(host.addresses, make_view_tree({4}, {host.addresses, {}}), death_marks);
  ++host.connected;
  while (death_marks.marked() == 0) {
  }
  lifeline.leave();
}

}  // namespace

TEST_CASE("lifeline: who leaves over a death has heard of it, though the kernel is not through") {
  for (int trial = 0; trial < 20; ++trial) {
    Shared<Host> host;
    Processes processes(2, [&](int rank) { live(*host, rank); });
    while (host->connected < 2 || !host->death_marks().counts(1)) nap_ms(1);
    processes.signal(1, SIGKILL);
    CHECK(processes.wait(0) == 0);
    CHECK(host->losses == 1);
    CHECK(processes.wait(1) == -SIGKILL);
  }
}

}  // namespace resprout::runtime
