// A silence counts only while the listener was awake.
#include "protocols/failure_detector/silence.hpp"

#include "doctest/doctest.h"

using namespace resprout;

TEST_CASE("time in which the listener did not run is nobody's silence") {
  protocols::Silence silence;
  silence.start({100});
  CHECK(silence.length({350}) == 250);
  silence.forgive({350}, 200);
  CHECK(silence.length({350}) == 50);
  silence.forgive({350}, 1000);
  CHECK(silence.length({350}) == 0);
  silence.handle_sound({400});
  CHECK(silence.length({500}) == 100);
  CHECK(silence.reaches(150) == Time{550});
}
