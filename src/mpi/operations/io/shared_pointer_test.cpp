#include "mpi/operations/io/shared_pointer.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <vector>

#include "doctest/doctest.h"
#include "runtime/testing/scratch_folder.hpp"

using resprout::runtime::testing::ScratchFolder;
using resprout::shim::SharedPointer;

namespace {

std::int64_t stay(std::int64_t at) { return at; }
std::int64_t next(std::int64_t at) { return at + 1; }

}  // namespace

TEST_CASE("a shared pointer stands where the last one has moved it, whoever that was") {
  const ScratchFolder folder;
  const SharedPointer one(folder.path() + "/pointer", 40);
  const SharedPointer other(folder.path() + "/pointer", 40);
  CHECK_FALSE(one.is_there());
  std::int64_t before = 0;
  CHECK(one.move([](std::int64_t at) { return at + 2; }, &before) == 0);
  CHECK(before == 40);
  CHECK(other.is_there());
  CHECK(other.move(stay, &before) == 0);
  CHECK(before == 42);
  other.remove();
  CHECK_FALSE(one.is_there());
}

TEST_CASE("a shared pointer that one moves for all is moved once each time, whoever tries to") {
  const ScratchFolder folder;
  const SharedPointer one(folder.path() + "/pointer", 40);
  const SharedPointer other(folder.path() + "/pointer", 40);
  std::int64_t before = 0;
  for (const SharedPointer* pointer : {&one, &other}) {
    CHECK(pointer->move_once(1, next, &before) == 0);
    CHECK(before == 40);
  }
  CHECK(other.move(next, &before) == 0);
  CHECK(before == 41);
  for (const SharedPointer* pointer : {&other, &one}) {
    CHECK(pointer->move_once(2, next, &before) == 0);
    CHECK(before == 42);
  }
}

TEST_CASE("processes that move a shared pointer at once lose no step") {
  const ScratchFolder folder;
  constexpr int processes = 4, steps = 500;
  fflush(nullptr);
  for (int i = 0; i < processes; ++i) {
    if (fork() != 0) continue;
    std::int64_t before = 0;
    int failed = 0;
    for (int step = 0; step < steps; ++step)
      failed += SharedPointer(folder.path() + "/pointer", 0).move(next, &before) != 0 ? 1 : 0;
    _exit(failed);
  }
  for (int i = 0; i < processes; ++i) {
    int status = 0;
    wait(&status);
    CHECK(status == 0);
  }
  std::int64_t before = 0;
  CHECK(SharedPointer(folder.path() + "/pointer", 0).move(stay, &before) == 0);
  CHECK(before == processes * steps);
}

TEST_CASE("a shared pointer that cannot be there says why") {
  const ScratchFolder folder;
  std::int64_t before = 0;
  CHECK(SharedPointer(folder.path() + "/no/pointer", 0).move(stay, &before) == ENOENT);
}
