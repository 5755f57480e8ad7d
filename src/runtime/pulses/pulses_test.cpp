// Processes that hold words and die: who is seen to have stopped, and that he does nothing after.
#include "runtime/pulses/pulses.hpp"

#include <array>
#include <thread>

#include "doctest/doctest.h"
#include "runtime/testing/processes.hpp"

namespace resprout::runtime {
namespace {

using testing::nap_ms;
using testing::Processes;
using testing::Shared;

constexpr std::array<int, 3> ranks{4, 7, 9};

struct Scene {
  alignas(64) std::array<std::byte, 64> words{};
  std::atomic<int> holding;
  std::atomic<bool> may_leave;
  std::atomic<std::uint64_t> writes;

  Pulses pulses() { return {words.data(), ranks}; }
};

// A process whose word another thread holds, as the lifeline's does, until it may leave.
void live(Scene& scene, int self) {
  std::thread holder([&] {
    Pulse pulse;
    pulse.start(scene.pulses(), ranks[static_cast<std::size_t>(self)]);
    ++scene.holding;
    while (!scene.may_leave) nap_ms(1);
  });
  while (!scene.may_leave) ++scene.writes;
  holder.join();
}

TEST_CASE("pulses: who is killed has stopped, who leaves has not") {
  for (const int victim : {0, 1, 2}) {
    Shared<Scene> scene;
    Processes processes(3, [&](int self) { live(*scene, self); });
    while (scene->holding < 3) nap_ms(1);
    CHECK(scene->pulses().stopped() == 0);
    processes.signal(victim, SIGKILL);
    while (scene->pulses().stopped() == 0) nap_ms(1);
    scene->may_leave = true;
    for (int i = 0; i < 3; ++i) {
      CHECK(processes.wait(i) == (i == victim ? -SIGKILL : 0));
      CHECK(scene->pulses().has_stopped(ranks[static_cast<std::size_t>(i)]) == (i == victim));
    }
    CHECK(scene->pulses().stopped() == 1);
    int seen = 0;
    scene->pulses().for_each_stopped([&](int rank) { seen = rank; });
    CHECK(seen == ranks[static_cast<std::size_t>(victim)]);
    CHECK_FALSE(scene->pulses().has_stopped(5));
  }
}

TEST_CASE("pulses: who has stopped writes nothing any more, once that is settled") {
  for (int trial = 0; trial < 200; ++trial) {
    Shared<Scene> scene;
    Processes processes(1, [&](int self) { live(*scene, self); });
    while (scene->holding < 1 || scene->writes < 1000) std::this_thread::yield();
    processes.signal(0, SIGKILL);
    while (scene->pulses().stopped() == 0) {
    }
    Pulses::settle();
    const std::uint64_t writes = scene->writes;
    for (int look = 0; look < 1000; ++look) CHECK(scene->writes == writes);
    CHECK(processes.wait(0) == -SIGKILL);
    CHECK(scene->writes == writes);
  }
}

TEST_CASE("pulses: where there is no memory nobody stops") {
  const Pulses none;
  Pulse pulse;
  pulse.start(none, 0);
  CHECK(none.stopped() == 0);
  CHECK_FALSE(none.has_stopped(0));
}

}  // namespace
}  // namespace resprout::runtime
