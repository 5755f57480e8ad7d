#include "mpi/policies/inject/inject.hpp"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

#include "doctest/doctest.h"
#include "runtime/testing/scratch_folder.hpp"

using namespace resprout::shim;

namespace {

constexpr int survived = 42;

Options with_faults(std::vector<Fault> faults, std::string run_directory = {}) {
  Options options;
  options.faults = std::move(faults);
  options.run_directory = std::move(run_directory);
  return options;
}

Fault at_call(Fault::Kind kind, std::string call, std::uint64_t count, int rank = 0) {
  Fault fault;
  fault.kind = kind;
  fault.rank = rank;
  fault.call = std::move(call);
  fault.count = count;
  fault.status = 7;
  fault.text = "as it was written";
  return fault;
}

Fault at_time(Fault::Kind kind, double seconds) {
  Fault fault = at_call(kind, "", 0);
  fault.at_s = seconds;
  return fault;
}

// The wait status of a process that arms `options` as rank 0, runs `body` and exits with
// `survived`. It is reported as stopped too, and then ended.
int fate_of(const Options& options, const std::function<void()>& body) {
  fflush(nullptr);  // or the child says again what is still in the buffers
  const pid_t child = fork();
  if (child == 0) {
    arm_faults(options, 0);
    body();
    _exit(survived);
  }
  int status = 0;
  waitpid(child, &status, WUNTRACED);
  if (WIFSTOPPED(status)) {
    kill(child, SIGKILL);
    int end = 0;
    waitpid(child, &end, 0);
  }
  return status;
}

void wait_for_the_end() { sleep(60); }

bool is_survivor(int status) { return WIFEXITED(status) && WEXITSTATUS(status) == survived; }

}  // namespace

TEST_CASE("a counted fault fires on entering the n-th call of that name, not before") {
  const Options options = with_faults({at_call(Fault::Kind::kill, "bcast", 3)});
  const auto enter_bcast = [](int times) {
    return [times] {
      for (int i = 0; i < times; ++i) {
        entering("allreduce");
        entering("bcast");
      }
    };
  };
  CHECK(is_survivor(fate_of(options, enter_bcast(2))));
  const int status = fate_of(options, enter_bcast(3));
  CHECK(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGKILL);
}

TEST_CASE("faults of other ranks do not fire here") {
  const Options options = with_faults({at_call(Fault::Kind::kill, "bcast", 1, 1)});
  CHECK(is_survivor(fate_of(options, [] { entering("bcast"); })));
}

TEST_CASE("exit ends the process with the status that was asked for, its handlers run") {
  const Options options = with_faults({at_call(Fault::Kind::exit, "send", 1)});
  const int status = fate_of(options, [] {
    atexit([] { _exit(8); });
    entering("send");
  });
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 8);
}

TEST_CASE("timed faults fire by themselves: kill, stop, exit") {
  const int killed = fate_of(with_faults({at_time(Fault::Kind::kill, 0.01)}), wait_for_the_end);
  CHECK(WIFSIGNALED(killed));
  CHECK(WTERMSIG(killed) == SIGKILL);
  const int stopped = fate_of(with_faults({at_time(Fault::Kind::stop, 0.01)}), wait_for_the_end);
  CHECK(WIFSTOPPED(stopped));
  const int ended = fate_of(with_faults({at_time(Fault::Kind::exit, 0.01)}), wait_for_the_end);
  CHECK(WIFEXITED(ended));
  CHECK(WEXITSTATUS(ended) == 7);
}

TEST_CASE("what has not fired is left") {
  const Options options =
      with_faults({at_call(Fault::Kind::kill, "bcast", 2),
                   at_call(Fault::Kind::kill, "bcast", 1, 1), at_time(Fault::Kind::kill, 60)});
  const int status = fate_of(options, [] {
    entering("bcast");
    if (faults_left().size() != 2) _exit(1);
  });
  CHECK(is_survivor(status));
}

TEST_CASE("before it fires, a fault leaves a note") {
  const resprout::runtime::testing::ScratchFolder directory;
  fate_of(with_faults({at_call(Fault::Kind::kill, "recv", 1)}, directory.path()),
          [] { entering("recv"); });
  const std::string note = directory.read("notes-0");
  CHECK(
      note.starts_with("\n"
                       R"({"injected":{"fault":"as it was written","fired_ns":)"));
}
