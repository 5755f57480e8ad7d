#include "runtime/lifeline/lifeline_test.hpp"

#include <dirent.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include <filesystem>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "runtime/death_marks/process.hpp"

namespace resprout::runtime {
namespace {

void kill_some(const Job& job, const std::set<int>& victims) {
  Scene scene(job);
  for (const int victim : victims) scene.ranks().signal(victim, SIGKILL);
  for (const int victim : victims) CHECK(scene.all_heard(victim, victims));
  scene.finish(victims, LossKind::exited);
}

TEST_CASE("one of 4 on one host is killed: everybody learns it once") { kill_some({}, {2}); }

TEST_CASE("three of 8 are killed at once, rank 0 among them, on 1, 2, 3 and 8 hosts") {
  for (const int hosts : {1, 2, 3, 8}) {
    CAPTURE(hosts);
    kill_some({.procs = 8, .hosts = hosts}, {0, 3, 4});
  }
}

TEST_CASE("of 16 processes all but two are killed, on 1 and 5 hosts") {
  for (const int hosts : {1, 5}) {
    CAPTURE(hosts);
    std::set<int> victims;
    for (int rank = 0; rank < 16; ++rank)
      if (rank != 6 && rank != 15) victims.insert(rank);
    kill_some({.procs = 16, .hosts = hosts}, victims);
  }
}

TEST_CASE("two processes on two hosts: each learns of the other's death") {
  kill_some({.procs = 2, .hosts = 2}, {0});
  kill_some({.procs = 2, .hosts = 2}, {1});
}

TEST_CASE("deaths one after the other: the graph heals and the last two still hear of each other") {
  for (const int hosts : {1, 4}) {
    Scene scene({.procs = 8, .hosts = hosts});
    std::set<int> lost;
    for (const int victim : {1, 2, 4, 0, 7, 6, 3}) {
      scene.ranks().signal(victim, SIGKILL);
      lost.insert(victim);
      CHECK(scene.all_heard(victim, lost));
    }
    scene.finish(lost, LossKind::exited);
  }
}

TEST_CASE("a process that ends by exit(1) without a goodbye is lost") {
  for (const int hosts : {1, 2}) {
    Scene scene({.procs = 4, .hosts = hosts, .ordered = [](int, Lifeline&) { _exit(1); }});
    scene.board().order[1] = true;
    CHECK(scene.all_heard(1, {1}));
    CHECK(scene.ranks().wait(1) == 1);
    scene.finish({1}, LossKind::exited);
  }
}

TEST_CASE("who says goodbye and ends is not lost, and everybody knows that it left") {
  for (const int hosts : {1, 3}) {
    Scene scene({.procs = 6, .hosts = hosts, .ordered = [](int, Lifeline& lifeline) {
                   lifeline.leave();
                   _exit(0);
                 }});
    scene.board().order[1] = true;
    scene.board().order[4] = true;
    CHECK(Scene::eventually([&] {
      for (const int rank : {0, 2, 3, 5})
        if (scene.board().heard[rank][1].left != 1 || scene.board().heard[rank][4].left != 1)
          return false;
      return true;
    }));
    scene.finish({}, LossKind::exited, {1, 4});
  }
}

TEST_CASE("a stopped process is ended, on one host and on two, and counts as hung") {
  for (const int hosts : {1, 2}) {
    CAPTURE(hosts);
    Scene scene({.procs = 4, .hosts = hosts});
    scene.ranks().signal(3, SIGSTOP);
    CHECK(scene.all_heard(3, {3}));
    CHECK(scene.ranks().wait(3) == -SIGKILL);
    for (int rank = 0; rank < 3; ++rank) {
      const int found_by = scene.board().heard[rank][3].found_by;
      CHECK(found_by >= 0);
      CHECK(found_by % hosts == 3 % hosts);
    }
    scene.finish({3}, LossKind::hung);
  }
}

TEST_CASE("a process that a debugger holds is not hung, and goes on when it is let go") {
  Scene scene({.procs = 4, .timeout_ms = 400, .grace_ms = 600});
  const pid_t held = scene.ranks().pid(3);
  // Its threads are held one by one; the one that gives signs of life is among them.
  std::vector<pid_t> threads;
  for (const auto& entry :
       std::filesystem::directory_iterator("/proc/" + std::to_string(held) + "/task"))
    threads.push_back(std::stoi(entry.path().filename()));
  for (const pid_t thread : threads) {
    if (ptrace(PTRACE_SEIZE, thread, nullptr, nullptr) != 0) {
      MESSAGE("not tried: this machine does not let a process trace its child");
      scene.finish({}, LossKind::exited);
      return;
    }
    ptrace(PTRACE_INTERRUPT, thread, nullptr, nullptr);
  }
  nap_ms(2500);
  CHECK(process_status(held)->is_held());
  for (int rank = 0; rank < 3; ++rank) CHECK(scene.board().heard[rank][3].losses == 0);
  for (const pid_t thread : threads) {
    while (ptrace(PTRACE_DETACH, thread, nullptr, nullptr) != 0 && errno == ESRCH)
      waitpid(thread, nullptr, __WALL);
  }
  scene.finish({}, LossKind::exited);
}

TEST_CASE("a process that is not stopped but gives no sign is ended too, after the grace") {
  for (const int hosts : {1, 2}) {
    CAPTURE(hosts);
    Scene scene({.procs = 4, .hosts = hosts, .timeout_ms = 400, .grace_ms = 1000});
    scene.board().is_stuck[1] = true;
    nap_ms(800);
    CHECK(scene.ranks().is_running(1));
    CHECK(scene.all_heard(1, {1}));
    CHECK(scene.ranks().wait(1) == -SIGKILL);
    scene.finish({1}, LossKind::hung);
  }
}

TEST_CASE("a stopped process without anybody on its host is unreachable, and ends when it learns") {
  Scene scene({.procs = 3, .hosts = 3});
  scene.ranks().signal(1, SIGSTOP);
  CHECK(scene.all_heard(1, {1}));
  CHECK(scene.ranks().is_running(1));
  scene.ranks().signal(1, SIGCONT);
  CHECK(scene.ranks().wait(1) == 70);
  scene.finish({1}, LossKind::unreachable);
}

TEST_CASE("all are stopped and continued: nobody accuses anybody") {
  for (const int hosts : {1, 2}) {
    Scene scene({.procs = 4, .hosts = hosts, .timeout_ms = 400});
    for (int rank = 0; rank < 4; ++rank) scene.ranks().signal(rank, SIGSTOP);
    nap_ms(1200);
    for (int rank = 0; rank < 4; ++rank) scene.ranks().signal(rank, SIGCONT);
    nap_ms(1200);
    scene.finish({}, LossKind::exited);
  }
}

TEST_CASE("a suspicion of the caller about a living process comes to nothing") {
  for (const int hosts : {1, 2}) {
    Scene scene({.procs = 4, .hosts = hosts, .ordered = [](int rank, Lifeline& lifeline) {
                   for (int other = 0; other < 4; ++other) lifeline.suspect(other);
                   lifeline.suspect(rank + 1000);
                 }});
    scene.board().order[0] = true;
    scene.board().order[3] = true;
    nap_ms(300);
    scene.finish({}, LossKind::exited);
  }
}

TEST_CASE("who is asked whether it is at work answers whoever has asked, and nobody else hears") {
  Scene scene({.procs = 6, .hosts = 6, .ordered = [](int, Lifeline& lifeline) {
                 lifeline.ask_whether_at_work(3);
               }});
  Board& board = scene.board();
  for (const int rank : {0, 5}) board.order[rank] = true;
  CHECK(Scene::eventually([&] { return board.answers[0] == 1 && board.answers[5] == 1; }));
  CHECK(board.questions[3] == 2);
  scene.finish({}, LossKind::exited);
  for (int rank = 0; rank < 6; ++rank) {
    CHECK(board.answers[rank] == (rank == 0 || rank == 5 ? 1 : 0));
    CHECK(board.questions[rank] == (rank == 3 ? 2 : 0));
  }
}

TEST_CASE("both ends report their data link: one is lost and ends, and all are told why") {
  Scene scene({.procs = 4, .hosts = 4, .ordered = [](int rank, Lifeline& lifeline) {
                 lifeline.report_silent_link(rank == 1 ? 3 : 1);
               }});
  for (const int rank : {1, 3}) scene.board().order[rank] = true;
  CHECK(scene.all_heard(3, {3}));
  CHECK(scene.ranks().wait(3) == 70);
  scene.finish({3}, LossKind::cut_off);
}

TEST_CASE("the data links of a host are cut: its ranks go, and the ranks of two others stay") {
  Scene scene({.procs = 6, .hosts = 3, .ordered = [](int rank, Lifeline& lifeline) {
                 for (int other = 0; other < 6; ++other)
                   if ((rank % 3 == 0) != (other % 3 == 0)) lifeline.report_silent_link(other);
               }});
  for (int rank = 0; rank < 6; ++rank) scene.board().order[rank] = true;
  for (const int rank : {0, 3}) {
    CHECK(scene.all_heard(rank, {0, 3}));
    CHECK(scene.ranks().wait(rank) == 70);
  }
  // Each ends on being told, which the other one of its host sees, and may say before anybody else
  // has passed on why.
  scene.finish({0, 3}, LossKind::cut_off, {}, LossKind::exited);
}

TEST_CASE("everybody leaves at once, again and again, and nobody is taken for lost") {
  for (int run = 0; run < 10; ++run) {
    Scene scene({.procs = 8, .hosts = 1 + run % 4});
    scene.finish({}, LossKind::exited);
  }
}

TEST_CASE("whose goodbye reached nobody, because those linked with it had left, is not lost") {
  constexpr int leaves_last = 1, stays = 7;  // not linked with each other
  Scene scene(
      {.procs = 16, .hosts = 8, .ordered = [](int, Lifeline& lifeline) { lifeline.leave(); }});
  std::set<int> left;
  for (int rank = 0; rank < 16; ++rank)
    if (rank != stays) left.insert(rank);
  for (const int rank : left) scene.board().order[rank] = rank != leaves_last;
  nap_ms(100);  // less than it takes to mend the graph
  scene.board().order[leaves_last] = true;
  CHECK(Scene::eventually([&] { return scene.board().heard[stays][leaves_last].left == 1; }));
  scene.finish({}, LossKind::exited, left);
}

TEST_CASE("a forked child is not the process, and takes nothing with it when it ends") {
  for (const int hosts : {1, 2}) {
    Scene scene({.procs = 3, .hosts = hosts, .ordered = [](int, Lifeline& lifeline) {
                   const pid_t child = fork();
                   if (child == 0) {
                     lifeline.leave();
                     _exit(0);
                   }
                   int status = 0;
                   waitpid(child, &status, 0);
                   expect(status == 0, "the child ends well");
                 }});
    scene.board().order[1] = true;
    nap_ms(200);
    scene.ranks().signal(1, SIGKILL);
    CHECK(scene.all_heard(1, {1}));
    scene.finish({1}, LossKind::exited);
  }
}

TEST_CASE("the tick comes again and again") {
  Scene scene({.procs = 2});
  CHECK(Scene::eventually([&] { return scene.board().ticks[0] > 20; }));
  scene.finish({}, LossKind::exited);
}

int count_entries(const char* path) {
  int count = 0;
  DIR* const directory = opendir(path);
  while (readdir(directory) != nullptr) ++count;
  closedir(directory);
  return count;
}

TEST_CASE("a lifeline leaves no descriptor and no thread behind") {
  std::thread([] {}).join();  // sanitizers start threads of their own with the first one
  const int files = count_entries("/proc/self/fd");
  const int threads = count_entries("/proc/self/task");
  for (int run = 0; run < 3; ++run) {
    Lifeline alone({});
    const PeerAddress address = alone.listen();
    alone.connect({&address, 1}, {});
    alone.leave();
    alone.leave();
  }
  {
    Lifeline never_connected({});
  }
  CHECK(count_entries("/proc/self/fd") == files);
  CHECK(count_entries("/proc/self/task") == threads);
}

TEST_CASE("the host id is the same each time") {
  CHECK(current_host_id() == current_host_id());
  CHECK(current_host_id() != HostId{});
}

TEST_CASE("a process whose memory nobody may read is a host of its own in the same network") {
  const HostId host = current_host_id();
  const HostId network = current_network_id();
  const HostId machine = current_machine_id();
  REQUIRE(prctl(PR_SET_DUMPABLE, 0) == 0);
  CHECK(current_host_id() != host);
  CHECK(current_network_id() == network);
  CHECK(current_machine_id() == machine);
  CHECK(machine != network);
  prctl(PR_SET_DUMPABLE, 1);
  CHECK(current_host_id() == host);
}

}  // namespace
}  // namespace resprout::runtime
