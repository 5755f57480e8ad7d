#include "core/invariant.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <string>

#include "doctest/doctest.h"

namespace resprout {
namespace {

int said[2];  // a pipe

// What a process says and how it ends that goes on only if `holds`.
std::string said_by_process_where(bool holds) {
  REQUIRE(pipe(said) == 0);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    for (const int number : {SIGILL, SIGTRAP}) signal(number, SIG_DFL);
    RESPROUT_INVARIANT(holds);
    _exit(0);
  }
  close(said[1]);
  std::string text;
  for (char c; read(said[0], &c, 1) == 1;) text += c;
  close(said[0]);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  return WIFSIGNALED(status) ? text : text + "it goes on";
}

TEST_CASE("a broken invariant is said, with its place in the tree, and ends the process") {
  const std::string text = said_by_process_where(false);
  CHECK(text.starts_with("src/core/invariant_test.cpp:"));
  CHECK(text.ends_with(": holds"));
}

TEST_CASE("of an invariant that holds nothing is said") {
  CHECK(said_by_process_where(true) == "it goes on");
}

}  // namespace

void say_broken(const char* condition, const char* file, int line) {
  dprintf(said[1], "%s:%d: %s", file, line, condition);
}

}  // namespace resprout
