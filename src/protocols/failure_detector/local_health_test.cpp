// Who is late himself is patient with others, and not for ever.
#include "protocols/failure_detector/local_health.hpp"

#include "doctest/doctest.h"

namespace resprout::protocols {
namespace {

TEST_CASE("a deadline that is served within half a period is served in time") {
  CHECK(starved_for(0, 100) == 0);
  CHECK(starved_for(50, 100) == 0);
  CHECK(starved_for(51, 100) == 51);
  CHECK(starved_for(700, 100) == 700);
}

TEST_CASE("who is healthy has the patience that was configured") {
  LocalHealth health;
  for (int i = 0; i < 100; ++i) health.handle_deadline(false);
  CHECK(health.stretch(1000) == 1000);
}

TEST_CASE("each late deadline, and each accusation, is one more patience, up to nine") {
  LocalHealth health;
  health.handle_deadline(true);
  CHECK(health.stretch(1000) == 2000);
  health.handle_accusation();
  CHECK(health.stretch(1000) == 3000);
  for (int i = 0; i < 100; ++i) health.handle_deadline(true);
  CHECK(health.score() == LocalHealth::worst);
  CHECK(health.stretch(1000) == 9000);
}

TEST_CASE("each deadline in time takes one back") {
  LocalHealth health;
  for (int i = 0; i < 100; ++i) health.handle_deadline(true);
  for (std::uint32_t left = LocalHealth::worst; left > 0; --left) {
    CHECK(health.score() == left);
    health.handle_deadline(false);
  }
  CHECK(health.stretch(1000) == 1000);
}

}  // namespace
}  // namespace resprout::protocols
