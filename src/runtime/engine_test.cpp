#include "runtime/engine.hpp"

#include "doctest/doctest.h"
#include "runtime/session_test.hpp"

using namespace resprout;
using namespace resprout::runtime;

namespace {

int looks;
bool is_urgent;

// How often that was done which goes on meanwhile, in so many rounds in which nothing came.
int looks_in(int rounds, const IdleStrategy& idle) {
  Wire wire(1);
  MemoryTransport transport(wire, 0, 1, false);
  Engine engine(0, 1, transport, idle);
  engine.do_meanwhile([] { ++looks; }, [] { return is_urgent; });
  looks = 0;
  int round = -1;  // it is asked once before the first one
  Lock lock = engine.lock();
  engine.wait_until(lock, [&] { return round++ == rounds; });
  return looks;
}

constexpr IdleStrategy yields{0, 1000, 1000};
constexpr IdleStrategy naps{0, 0, 1000};

}  // namespace

TEST_CASE(
    "who waits does now and then what else has to go on, and in each round in which it naps") {
  is_urgent = false;
  CHECK(looks_in(80, yields) == 80 / static_cast<int>(idle_rounds_between_looks));
  CHECK(looks_in(80, naps) == 80);
}

TEST_CASE("who waits does in each round what others may wait for") {
  is_urgent = true;
  CHECK(looks_in(80, yields) == 80);
  CHECK(looks_in(80, naps) == 80);
}
