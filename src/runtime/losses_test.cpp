#include "runtime/losses.hpp"

#include <doctest/doctest.h>

namespace resprout::runtime {
namespace {

TEST_CASE("a loss is news once") {
  Losses losses(4);
  CHECK(losses.note(2));
  CHECK_FALSE(losses.note(2));
  CHECK(losses.is_lost(2));
  CHECK(losses.count() == 1);
  CHECK(losses.take_news() == std::vector{2});
  CHECK(losses.take_news().empty());
}

TEST_CASE("news come in the order in which they were noted") {
  Losses losses(4);
  losses.note(3);
  losses.note(0);
  CHECK(losses.take_news() == std::vector{3, 0});
}

TEST_CASE("a lost process may still write until its end is noted") {
  Losses losses(3);
  losses.note(1);
  CHECK_FALSE(losses.has_ended(1));
  CHECK_FALSE(losses.note_death(1));
  CHECK(losses.has_ended(1));
  CHECK(losses.note_death(0));
  CHECK(losses.is_lost(0));
}

TEST_CASE("the lost members of a communicator are named by their places in it") {
  Losses losses(5);
  const Members members({{0, 4}, {1, 1}, {2, 3}}, 1);
  CHECK(losses.among(members).empty());
  losses.note(3);
  losses.note(0);
  losses.note(4);
  CHECK(losses.among(members) == std::vector{rank_at(0), rank_at(2)});
}

TEST_CASE("without a loss none is recent") {
  constexpr std::int64_t hour_ns = 3600'000'000'000;
  Losses losses(2);
  CHECK_FALSE(losses.is_latest_within(hour_ns));
  losses.note(1);
  CHECK(losses.is_latest_within(hour_ns));
  CHECK_FALSE(losses.is_latest_within(0));
}

}  // namespace
}  // namespace resprout::runtime
