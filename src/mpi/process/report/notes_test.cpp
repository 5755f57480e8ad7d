#include "mpi/process/report/notes.hpp"

#include <signal.h>
#include <sys/resource.h>

#include <thread>
#include <vector>

#include "doctest/doctest.h"
#include "runtime/testing/scratch_folder.hpp"

namespace resprout::shim {
namespace {

using runtime::testing::ScratchFolder;

Json number(std::int64_t value) {
  Json json;
  json.begin_object().key("number").number(value).end_object();
  return json;
}

TEST_CASE("each note is a line of its own, and is there at once") {
  const ScratchFolder directory;
  Notes notes(directory.path(), 3);
  notes.add("found", number(1));
  CHECK(directory.read("notes-3") == "\n{\"found\":{\"number\":1}}\n");
  notes.add("lost", number(2));
  CHECK(directory.read("notes-3") == "\n{\"found\":{\"number\":1}}\n\n{\"lost\":{\"number\":2}}\n");
}

TEST_CASE("without a run directory none are kept, and without notes there is no file") {
  Notes nowhere("", 0);
  nowhere.add("found", number(1));
  const ScratchFolder directory;
  const Notes silent(directory.path(), 0);
  CHECK(!std::filesystem::exists(directory.path("notes-0")));
}

TEST_CASE("notes of several threads and several parts of a process do not mix") {
  const ScratchFolder directory;
  Notes one(directory.path(), 0), other(directory.path(), 0);
  std::vector<std::thread> threads;
  for (Notes* notes : {&one, &one, &other, &other})
    threads.emplace_back([notes] {
      for (int i = 0; i < 200; ++i) notes->add("found", number(10));
    });
  for (auto& thread : threads) thread.join();
  std::string expected;
  for (int i = 0; i < 800; ++i) expected += "\n{\"found\":{\"number\":10}}\n";
  CHECK(directory.read("notes-0") == expected);
}

TEST_CASE("a note that did not fit on the disk spoils none that comes later") {
  const ScratchFolder directory;
  Notes notes(directory.path(), 0);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const auto ignored = signal(SIGXFSZ, SIG_IGN);
  const rlimit small{40, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  notes.add("found", number(1));
  notes.add("found", number(2));
  setrlimit(RLIMIT_FSIZE, &before);
  signal(SIGXFSZ, ignored);
  notes.add("found", number(3));
  CHECK(directory.read("notes-0") ==
        "\n{\"found\":{\"number\":1}}\n\n{\"found\":{\"numb\n{\"found\":{\"number\":3}}\n");
}

}  // namespace
}  // namespace resprout::shim
