#include "mpi/process/report/own_time.hpp"

#include <filesystem>
#include <fstream>
#include <string>

#include "doctest/doctest.h"
#include "runtime/testing/scratch_folder.hpp"

namespace resprout::shim {
namespace {

constexpr std::int64_t second_ns = 1'000'000'000;

// A process as /proc shows it.
struct Shown {
  void thread(int id, std::int64_t waited_ns) const {
    std::filesystem::create_directories(root() + "/task/" + std::to_string(id));
    std::ofstream(root() + "/task/" + std::to_string(id) + "/schedstat")
        << 7 << ' ' << waited_ns << " 1\n";
  }
  void status(const std::string& state, int tracer) const {
    std::ofstream(root() + "/status")
        << "Name:\tprogram\nState:\t" << state << "\nTgid:\t1\nTracerPid:\t" << tracer << '\n';
  }
  std::string root() const { return folder.path(); }

  runtime::testing::ScratchFolder folder;
};

TEST_CASE("time in which a thread waited for a core is not the process's own") {
  const Shown shown;
  shown.status("R (running)", 0);
  shown.thread(1, 100 * second_ns);
  shown.thread(2, 0);
  OwnTime own(shown.root());
  CHECK(own.of(second_ns) == second_ns);
  shown.thread(1, 100 * second_ns + second_ns / 4);
  shown.thread(2, second_ns / 2);
  CHECK(own.of(second_ns) == second_ns / 2);
  CHECK(own.of(second_ns) == second_ns);
  shown.thread(1, 110 * second_ns);
  CHECK(own.of(second_ns) == 0);
}

TEST_CASE("nor is time in which a debugger holds it, or it waits for a disk") {
  const Shown shown;
  shown.thread(1, 0);
  shown.status("S (sleeping)", 0);
  OwnTime own(shown.root());
  CHECK(own.of(second_ns) == second_ns);
  shown.status("t (tracing stop)", 4711);
  CHECK(own.of(second_ns) == 0);
  shown.status("D (disk sleep)", 0);
  CHECK(own.of(second_ns) == 0);
  shown.status("S (sleeping)", 0);
  CHECK(own.of(second_ns) == second_ns);
}

TEST_CASE("what cannot be read counts as its own") {
  OwnTime own("/proc/nobody");
  CHECK(own.of(second_ns) == second_ns);
}

}  // namespace
}  // namespace resprout::shim
