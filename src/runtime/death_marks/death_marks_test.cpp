// Processes that hold mutexes and die: who is seen to have died, and that he does nothing after.
#include "runtime/death_marks/death_marks.hpp"

#include <linux/membarrier.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include <array>
#include <thread>

#include "doctest/doctest.h"
#include "runtime/testing/processes.hpp"

namespace resprout::runtime {
namespace {

using testing::expect;
using testing::nap_ms;
using testing::Processes;
using testing::Shared;

constexpr std::array<int, 3> ranks{4, 7, 9};

struct Scene {
  alignas(64) std::array<std::byte, ranks.size() * DeathMarks::bytes_each> memory{};
  std::atomic<int> holding;
  std::atomic<bool> may_leave;
  std::atomic<std::uint64_t> writes;

  DeathMarks death_marks() { return {memory.data(), ranks}; }
};

int rank_of(int process) { return ranks[static_cast<std::size_t>(process)]; }

// A process of which two threads write, until it may leave.
void live(Scene& scene, int self) {
  DeathMark death_mark;
  death_mark.start(scene.death_marks(), rank_of(self));
  std::thread other([&] {
    scene.death_marks().count(rank_of(self));
    ++scene.holding;
    while (!scene.may_leave) ++scene.writes;
  });
  while (!scene.may_leave) ++scene.writes;
  other.join();
}

TEST_CASE("death marks: who is killed has died, who leaves has not") {
  for (const int victim : {0, 1, 2}) {
    Shared<Scene> scene;
    Processes processes(3, [&](int self) { live(*scene, self); });
    while (scene->holding < 3) nap_ms(1);
    CHECK(scene->death_marks().marked() == 0);
    CHECK_FALSE(scene->death_marks().has_died(rank_of(victim)));
    processes.signal(victim, SIGKILL);
    while (scene->death_marks().marked() == 0) nap_ms(1);
    scene->may_leave = true;
    for (int i = 0; i < 3; ++i) {
      if (i == victim) CHECK(scene->death_marks().has_died(rank_of(i)));
      CHECK(processes.wait(i) == (i == victim ? -SIGKILL : 0));
      CHECK(scene->death_marks().has_died(rank_of(i)) == (i == victim));
    }
    CHECK(scene->death_marks().marked() == 1);
    int seen = 0;
    scene->death_marks().for_each_marked([&](int rank) { seen = rank; });
    CHECK(seen == rank_of(victim));
    CHECK_FALSE(scene->death_marks().has_died(5));
  }
}

TEST_CASE("death marks: any signal that ends a process is a death") {
  for (const int signal : {SIGSEGV, SIGTERM, SIGABRT}) {
    Shared<Scene> scene;
    Processes processes(1, [&](int self) {
      const rlimit no_core{};
      setrlimit(RLIMIT_CORE, &no_core);
      ::signal(signal, SIG_DFL);
      live(*scene, self);
    });
    while (scene->holding < 1) nap_ms(1);
    processes.signal(0, signal);
    while (!scene->death_marks().has_died(rank_of(0))) nap_ms(1);
    CHECK(processes.wait(0) == -signal);
  }
}

TEST_CASE("death marks: who has died writes nothing any more, once that is settled") {
  for (int trial = 0; trial < 200; ++trial) {
    Shared<Scene> scene;
    Processes processes(1, [&](int self) { live(*scene, self); });
    while (scene->holding < 1 || scene->writes < 1000) std::this_thread::yield();
    processes.signal(0, SIGKILL);
    while (!scene->death_marks().has_died(rank_of(0))) {
    }
    DeathMarks::settle();
    const std::uint64_t writes = scene->writes;
    scene->death_marks().let_others_pass(rank_of(0));
    for (int look = 0; look < 1000; ++look) CHECK(scene->writes == writes);
    CHECK(processes.wait(0) == -SIGKILL);
    CHECK(scene->writes == writes);
  }
}

TEST_CASE("death marks: the dead give way, and whoever waits takes them over to its own core") {
  Shared<Scene> scene;
  Processes processes(1, [&](int self) { live(*scene, self); });
  while (scene->holding < 1) nap_ms(1);
  processes.signal(0, SIGKILL);
  while (processes.is_running(0)) nap_ms(1);
  const pid_t thread = processes.pid(0);
  const auto pass = [&] {
    scene->death_marks().let_others_pass(rank_of(0));
    return getpriority(PRIO_PROCESS, static_cast<id_t>(thread));
  };
  const auto cores = [&] {
    cpu_set_t allowed;
    REQUIRE(sched_getaffinity(thread, sizeof allowed, &allowed) == 0);
    return CPU_COUNT(&allowed);
  };
  const int all = cores();
  CHECK(pass() == 19);
  CHECK(cores() == all);
  nap_ms(1);
  CHECK(pass() == 19);
  CHECK(cores() == 1);
}

#if !defined(__SANITIZE_THREAD__)  // which has a thread of its own in every process
TEST_CASE("death marks: a process of one thread is counted without waiting") {
  constexpr int get_registrations = 1 << 9;  // since Linux 6.3
  const auto registrations = [] { return syscall(SYS_membarrier, get_registrations, 0, 0); };
  if (registrations() < 0) return;
  Processes processes(1, [&](int) {
    DeathMarks::prepare();
    expect((registrations() & MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED) != 0, "it is registered");
  });
  CHECK(processes.wait(0) == 0);
}
#endif

TEST_CASE("death marks: a thread that ends is not its process") {
  Shared<Scene> scene;
  Processes processes(1, [&](int self) {
    std::thread([&] {
      DeathMark* const death_mark = new DeathMark;  // of a thread that does not let go
      death_mark->start(scene->death_marks(), rank_of(self));
      scene->death_marks().count(rank_of(self));
    }).join();
    ++scene->holding;
    while (!scene->may_leave) nap_ms(1);
  });
  while (scene->holding < 1) nap_ms(1);
  CHECK(scene->death_marks().marked() == 1);
  CHECK_FALSE(scene->death_marks().has_died(rank_of(0)));
  processes.signal(0, SIGKILL);
  CHECK(processes.wait(0) == -SIGKILL);
  CHECK(scene->death_marks().has_died(rank_of(0)));
}

TEST_CASE("death marks: a process that goes on as another program has not died") {
  Shared<Scene> scene;
  Processes processes(1, [&](int self) {
    DeathMark death_mark;
    death_mark.start(scene->death_marks(), rank_of(self));
    scene->death_marks().count(rank_of(self));
    execlp("sleep", "sleep", "60", nullptr);
  });
  while (scene->death_marks().marked() == 0) nap_ms(1);
  CHECK_FALSE(scene->death_marks().has_died(rank_of(0)));
  processes.signal(0, SIGKILL);
  CHECK(processes.wait(0) == -SIGKILL);
}

TEST_CASE("death marks: the end of a process that does not count is no death") {
  Shared<Scene> scene;
  Processes processes(1, [&](int self) {
    DeathMark death_mark;
    death_mark.start(scene->death_marks(), rank_of(self));
    ++scene->holding;
    for (;;) nap_ms(1);
  });
  while (scene->holding < 1) nap_ms(1);
  processes.signal(0, SIGKILL);
  CHECK(processes.wait(0) == -SIGKILL);
  CHECK_FALSE(scene->death_marks().has_died(rank_of(0)));
}

TEST_CASE("death marks: where there is no memory nobody stops") {
  const DeathMarks none;
  DeathMark death_mark;
  death_mark.start(none, 0);
  none.count(0);
  CHECK(none.marked() == 0);
  CHECK_FALSE(none.has_died(0));
}

}  // namespace
}  // namespace resprout::runtime
