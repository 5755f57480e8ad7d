// The living of a job agree on who is left, whoever dies when (views.hpp).
#include <dirent.h>
#include <unistd.h>

#include <functional>
#include <string>
#include <system_error>

#include "runtime/lifeline/lifeline_test.hpp"
#include "runtime/net/socket.hpp"

namespace resprout::runtime {
namespace {

void kill_and_agree(const Job& job, const std::set<int>& victims) {
  CAPTURE(job.hosts);
  CAPTURE(job.radix);
  Scene scene(job);
  for (const int victim : victims) scene.ranks().signal(victim, SIGKILL);
  CHECK(scene.all_in_view(victims));
  scene.finish(victims, LossKind::exited);
}

TEST_CASE("one of 8 is killed, whichever: all others install the same view") {
  for (const int hosts : {1, 2, 3, 8})
    for (const int victim : {0, 3, 7}) kill_and_agree({.procs = 8, .hosts = hosts}, {victim});
}

TEST_CASE("several of 16 are killed at once, rank 0 among them: the same view everywhere") {
  for (const int hosts : {1, 2, 5, 16})
    kill_and_agree({.procs = 16, .hosts = hosts}, {0, 1, 4, 5, 9, 14});
}

TEST_CASE("whatever the radix, some of 16 are killed: the same view everywhere") {
  for (const int radix : {2, 8, 16})
    for (const int hosts : {1, 5})
      kill_and_agree({.procs = 16, .hosts = hosts, .radix = radix}, {0, 1, 4, 5, 9, 14});
}

TEST_CASE("all but one are killed at once: all deaths are proven, and it is a view of its own") {
  for (const int hosts : {1, 2, 7})
    for (const int last : {0, 6}) {
      std::set<int> victims{0, 1, 2, 3, 4, 5, 6};
      victims.erase(last);
      kill_and_agree({.procs = 7, .hosts = hosts}, victims);
    }
}

TEST_CASE(
    "of two processes on two hosts one is killed: the other one goes on in a view of its own") {
  for (const int victim : {0, 1}) kill_and_agree({.procs = 2, .hosts = 2}, {victim});
}

TEST_CASE("deaths while views are on their way, the lowest ranks first and last") {
  for (const int hosts : {1, 4})
    for (const bool is_lowest_first : {true, false}) {
      CAPTURE(hosts);
      CAPTURE(is_lowest_first);
      Scene scene({.procs = 12, .hosts = hosts});
      std::set<int> lost;
      for (int i = 0; i < 9; ++i) {
        const int victim = is_lowest_first ? i : 11 - i;
        scene.ranks().signal(victim, SIGKILL);
        lost.insert(victim);
        // It is heard of, but not all have agreed on it, when the next one dies.
        CHECK(scene.all_heard(victim, lost));
      }
      CHECK(scene.all_in_view(lost));
      scene.finish(lost, LossKind::exited);
    }
}

TEST_CASE("one after the other: a view for each death, and each is installed by all") {
  for (const int hosts : {1, 3}) {
    CAPTURE(hosts);
    Scene scene({.procs = 6, .hosts = hosts});
    std::set<int> lost;
    for (const int victim : {4, 0, 1}) {
      scene.ranks().signal(victim, SIGKILL);
      lost.insert(victim);
      CHECK(scene.all_in_view(lost));
      const auto epoch = static_cast<int>(lost.size()) + 1;
      for (int rank = 0; rank < 6; ++rank)
        if (!lost.contains(rank)) CHECK(scene.board().views[rank][epoch] != 0);
      CHECK(scene.board().decided[epoch] == 1);
    }
    scene.finish(lost, LossKind::exited);
  }
}

TEST_CASE("a stopped process is ended, and the view is without it") {
  for (const int hosts : {1, 2}) {
    CAPTURE(hosts);
    Scene scene({.procs = 4, .hosts = hosts});
    scene.ranks().signal(0, SIGSTOP);
    CHECK(scene.all_in_view({0}));
    CHECK(scene.ranks().wait(0) == -SIGKILL);
    scene.finish({0}, LossKind::hung);
  }
}

TEST_CASE("one that cannot be reached is left out by the two others") {
  Scene scene({.procs = 3, .hosts = 3});
  scene.ranks().signal(0, SIGSTOP);
  CHECK(scene.all_in_view({0}));
  scene.ranks().signal(0, SIGCONT);
  CHECK(scene.ranks().wait(0) == 70);
  scene.finish({0}, LossKind::unreachable);
}

TEST_CASE("after the first goodbye losses are told and no view is agreed on") {
  for (const int hosts : {1, 3}) {
    CAPTURE(hosts);
    Scene scene({.procs = 6, .hosts = hosts, .ordered = [](int, Lifeline& lifeline) {
                   lifeline.leave();
                   _exit(0);
                 }});
    scene.board().order[1] = true;
    CHECK(Scene::eventually([&] {
      for (const int rank : {0, 2, 3, 4, 5})
        if (scene.board().heard[rank][1].left == 0) return false;
      return true;
    }));
    scene.ranks().signal(3, SIGKILL);
    CHECK(scene.all_heard(3, {1, 3}));
    scene.finish({3}, LossKind::exited, {1});
    for (int rank = 0; rank < 6; ++rank) CHECK(scene.last_view(rank) == 0);
  }
}

// Half of the processes stop, and nobody is left on their hosts to end them: to the others that is
// as if the network were cut. Ranks on even hosts are host 0, and the root is there.
void stop_half(int stopped_half, const std::function<void(Scene&)>& then) {
  Scene scene({.procs = 6, .hosts = 2});
  for (int rank = stopped_half; rank < 6; rank += 2) scene.ranks().signal(rank, SIGSTOP);
  then(scene);
}

TEST_CASE("half without the root is not heard: the half with it goes on, the other one ends") {
  Captured captured;
  stop_half(1, [](Scene& scene) {
    CHECK(scene.all_in_view({1, 3, 5}));
    for (const int rank : {1, 3, 5}) scene.ranks().signal(rank, SIGCONT);
    // The first one that wakes up may end one that is still stopped, as the others have lost it.
    for (const int rank : {1, 3, 5}) {
      const int status = scene.ranks().wait(rank);
      CHECK((status == 70 || status == -SIGKILL));
    }
    scene.finish({1, 3, 5}, LossKind::unreachable);
  });
}

TEST_CASE("half with the root is not heard: the half without it is isolated and ends") {
  Captured captured;
  stop_half(0, [&](Scene& scene) {
    for (const int rank : {1, 3, 5}) CHECK(scene.ranks().wait(rank) == 70);
    // None of them was told of enough losses to go on with what waits for all.
    for (const int rank : {1, 3, 5}) {
      int told = 0;
      for (const int other : {0, 2, 4}) told += scene.board().heard[rank][other].losses;
      CHECK(told < 3);
      CHECK(scene.last_view(rank) == 0);
      const std::string line = "resprout: rank " + std::to_string(rank) +
                               " hears of too few others: those that it cannot reach may go on "
                               "without it; it must not go on and ends here\n";
      CHECK(captured.text().find(line) != std::string::npos);
    }
  });
}

TEST_CASE("who is cut off may live on: it is told once, hears no more, and its port is closed") {
  Scene scene({.procs = 3, .hosts = 3, .may_live_on = true});
  Board& board = scene.board();
  scene.ranks().signal(0, SIGSTOP);
  CHECK(scene.all_in_view({0}));
  scene.ranks().signal(0, SIGCONT);
  CHECK(Scene::eventually([&] { return board.cut_off[0] == 1; }));
  const int ticks = board.ticks[0];
  CHECK(Scene::eventually([&] { return board.ticks[0] > ticks + 10; }));
  CHECK(Scene::eventually([&] {
    try {
      listen_on("127.0.0.1", board.addresses[0].lifeline_port);
      return true;
    } catch (const std::system_error&) {
      return false;
    }
  }));
  scene.ranks().signal(2, SIGKILL);
  CHECK(scene.all_heard(2, {0, 2}));
  board.may_leave = true;
  CHECK(scene.ranks().wait(0) == 0);
  CHECK(scene.ranks().wait(1) == 0);
  CHECK(board.cut_off[0] == 1);
  CHECK(board.cut_off[1] == 0);
  CHECK(board.heard[0][2].losses == 0);
}

TEST_CASE("half with the root is not heard and dies before the others end: they go on") {
  Scene scene({.procs = 2, .hosts = 2, .timeout_ms = 3000});
  scene.ranks().signal(0, SIGSTOP);
  // From here on its port accepts connections and says nothing; when it dies, it refuses them.
  CHECK(Scene::eventually([&] { return scene.board().accusations[1] > 0; }));
  nap_ms(3300);
  scene.ranks().signal(0, SIGKILL);
  CHECK(scene.all_in_view({0}));
  CHECK(scene.all_heard(0, {0}));
  CHECK(scene.board().heard[1][0].losses == 1);
  scene.board().may_leave = true;
  CHECK(scene.ranks().wait(1) == 0);
}

int count_sockets(pid_t pid) {
  const std::string folder = "/proc/" + std::to_string(pid) + "/fd/";
  int count = 0;
  DIR* const directory = opendir(folder.c_str());
  while (const dirent* const entry = readdir(directory)) {
    char target[64] = {};
    const std::string name = folder + entry->d_name;
    if (readlink(name.c_str(), target, sizeof target - 1) > 0)
      count += std::string(target).starts_with("socket:") ? 1 : 0;
  }
  closedir(directory);
  return count;
}

TEST_CASE("on one host nobody is connected with anybody before a loss") {
  const int inherited = count_sockets(getpid());
  Scene scene({.procs = 4});
  const auto own = [&](int rank) {
    return count_sockets(scene.board().addresses[rank].pid) - inherited;
  };
  // The port at which it listens.
  for (int rank = 0; rank < 4; ++rank) CHECK(own(rank) == 1);
  scene.ranks().signal(3, SIGKILL);
  CHECK(scene.all_in_view({3}));
  for (int rank = 0; rank < 3; ++rank) CHECK(own(rank) > 1);
  scene.finish({3}, LossKind::exited);
}

}  // namespace
}  // namespace resprout::runtime
