#include "mpi/process/report/last_words.hpp"

#include <unistd.h>

#include <cstdlib>
#include <string>

#include "core/invariant.hpp"
#include "doctest/doctest.h"

namespace resprout::shim {
namespace {

TEST_CASE("a rank that a broken invariant ends says who it is, what does not hold, and where") {
  leave_status(0);  // no rank's process: nothing is left anywhere
  int said[2];
  REQUIRE(pipe(said) == 0);
  const int stderr_before = dup(STDERR_FILENO);
  dup2(said[1], STDERR_FILENO);
  setenv("PMI_RANK", "3", 1);
  say_broken("left < right", "src/a/b.cpp", 12);
  unsetenv("PMI_RANK");
  dup2(stderr_before, STDERR_FILENO);
  close(stderr_before);
  close(said[1]);
  std::string text;
  for (char c; read(said[0], &c, 1) == 1;) text += c;
  close(said[0]);
  CHECK(text ==
        "resprout: rank 3 ends by a defect of Resprout: at src/a/b.cpp:12 this does not hold: "
        "left < right\n");
}

}  // namespace
}  // namespace resprout::shim
