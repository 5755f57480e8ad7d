#include "mpi/process/report/report.hpp"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <thread>

#include "doctest/doctest.h"
#include "runtime/testing/scratch_folder.hpp"

using namespace resprout;
using namespace resprout::shim;

namespace {

using RunDirectory = runtime::testing::ScratchFolder;

Report::Setup setup_of(int rank, std::string directory, OnLoss on_loss = OnLoss::go_on) {
  return {
      rank, {{100, "a"}, {101, "a"}, {102, "b \"c\""}, {103, "b"}}, std::move(directory), on_loss};
}

runtime::Loss loss_of(int rank) { return {rank, runtime::LossKind::exited, 2, 123456789}; }

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::string stderr_of(const RunDirectory& directory, const std::function<void()>& action) {
  const std::string path = directory.path() + "/stderr";
  const int saved = dup(STDERR_FILENO);
  REQUIRE(freopen(path.c_str(), "w", stderr) != nullptr);
  action();
  fflush(stderr);
  dup2(saved, STDERR_FILENO);
  close(saved);
  return directory.read("stderr");
}

// Runs `body` in a process of its own, and gives its exit status.
int status_of_child(const std::function<void()>& body) {
  fflush(nullptr);  // or the child says again what is still in the buffers
  const pid_t child = fork();
  if (child == 0) {
    body();
    _exit(99);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

TEST_CASE("the report's file has everything that was noted") {
  const RunDirectory directory;
  Report report(setup_of(2, directory.path()));
  report.count_call("allreduce");
  report.count_call("allreduce");
  report.count_native("allreduce");
  report.count_touched("allreduce");
  report.count_error("recv");
  report.note_loss(loss_of(3));
  report.note_view({.epoch = 2, .lost = {1, 3}, .detected_ns = 4, .installed_ns = 6});
  report.note_recovery({"allreduce", 41, "world", {3, 1}, 5, 9});
  report.note_transport("rejected_connections", 2);
  report.note_finalized();
  const std::string json = directory.read("rank-2.json");
  for (
      const char* part :
      {R"("schema":1)", R"("rank":2)", R"("world_size":4)", R"("pid":102)", R"("host":"b \"c\"")",
       R"("finalized":true)", R"("exit_status":null)",
       R"("allreduce":{"calls":2,"native":1,"touched":1,"errors":0})",
       R"("recv":{"calls":0,"native":0,"touched":0,"errors":1})",
       R"({"rank":3,"kind":"exited","detected_ns":123456789,"found_by":2,"pid":103,"died_ns":null})",
       R"("number":41,"communicator":"world","lost":[3,1],"began_ns":5,"ended_ns":9)",
       R"("views":[{"epoch":2,"lost":[1,3],"detected_ns":4,"decided_ns":null,"installed_ns":6}])",
       R"("transport":{"rejected_connections":2})"}) {
    CAPTURE(part);
    CHECK(has(json, part));
  }
  CHECK_FALSE(std::filesystem::exists(directory.path() + "/rank-2.json.part"));
}

TEST_CASE("the lowest living rank says where all stand in the tree of the views") {
  const auto tree_of = [](Report::Setup setup, const std::vector<int>& lost) {
    setup.tree = {{8}, {0, 2, 1, 3}};
    Report report(std::move(setup));
    for (const int rank : lost) report.note_loss(loss_of(rank));
    const std::string json = report.to_json();
    const std::size_t at = json.find("\"tree\":") + 7;
    return json.substr(at, json.find(",\"transport\"") - at);
  };
  const std::string all = R"({"radix":8,"places":[0,2,1,3]})";
  CHECK(tree_of(setup_of(0, ""), {}) == all);
  CHECK(tree_of(setup_of(1, ""), {}) == "null");
  CHECK(tree_of(setup_of(1, ""), {0}) == all);
  Report::Setup of_plane = setup_of(0, "");
  of_plane.keeps_views = false;
  CHECK(tree_of(of_plane, {}) == "null");
}

TEST_CASE("a loss that is noted while the process ends does not undo its end") {
  int left_out = 0;
  for (int i = 0; i < 500; ++i) {
    const RunDirectory directory;
    Report report(setup_of(1, directory.path()));
    std::thread other([&] { report.note_loss_of_plane(loss_of(3)); });
    report.note_finalized();
    report.note_exit(0);
    other.join();
    const std::string json = directory.read("rank-1.json");
    for (const char* part :
         {R"("finalized":true,"exit_status":0)", R"("losses":[{"rank":3,)", R"("operations":)"})
      left_out += has(json, part) ? 0 : 1;
  }
  CHECK(left_out == 0);
}

TEST_CASE("the exit status of the process is in the file, that of a forked child is not") {
  const RunDirectory directory;
  const int status = status_of_child([&] {
    Report& report = Report::open(setup_of(1, directory.path()));
    report.note_finalized();
    status_of_child([] { exit(5); });
    exit(3);
  });
  CHECK(status == 3);
  CHECK(has(directory.read("rank-1.json"), R"("exit_status":3)"));
  CHECK(has(directory.read("rank-1.json"), R"("finalized":true)"));
}

TEST_CASE("a process that exits without MPI_Finalize says so") {
  const RunDirectory directory;
  status_of_child([&] {
    Report::open(setup_of(1, directory.path()));
    exit(0);
  });
  CHECK(has(directory.read("rank-1.json"), R"("finalized":false,"exit_status":0)"));
}

TEST_CASE("without a run directory nothing is written") {
  const RunDirectory directory;
  std::filesystem::current_path(directory.path());
  Report report(setup_of(1, ""));
  report.note_finalized();
  CHECK(std::filesystem::is_empty(directory.path()));
  std::filesystem::current_path("/");
}

TEST_CASE("a loss is announced once, by the lowest living rank") {
  const RunDirectory directory;
  Report first(setup_of(0, directory.path()));
  Report second(setup_of(1, directory.path()));
  const std::string text = stderr_of(directory, [&] {
    second.note_loss(loss_of(3));
    first.note_loss(loss_of(3));
  });
  CHECK(text == first.describe(loss_of(3)) + "\n");
}

TEST_CASE("if the announcer dies, the next one announces what was left unsaid") {
  const RunDirectory directory;
  Report second(setup_of(1, directory.path()));
  const std::string text = stderr_of(directory, [&] {
    second.note_loss(loss_of(3));
    second.note_loss(loss_of(0));
  });
  CHECK(text == second.describe(loss_of(3)) + "\n" + second.describe(loss_of(0)) + "\n");
}

TEST_CASE("the line says who, where, what happened, what follows and who found it") {
  const Report going_on(setup_of(0, ""));
  CHECK(going_on.describe(loss_of(3)) ==
        "resprout: rank 3 (pid 103 on b) died; going on without it, results no longer contain its "
        "part (found by rank 2)");
  const Report telling(setup_of(0, "", OnLoss::error));
  CHECK(has(telling.describe(loss_of(3)), "MPIX_ERR_PROC_FAILED"));
}

TEST_CASE("counts of many threads add up, also for equal names at different addresses") {
  Report report(setup_of(0, ""));
  static const char name[] = "barrier";
  static const char twin[] = "barrier";
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int n = 0; n < 10000; ++n) report.count_call(n % 2 == 0 ? name : twin);
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(has(report.to_json(), R"("barrier":{"calls":40000,)"));
}
