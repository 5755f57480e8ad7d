// What check_lanes finds wrong.
#include "sim/lanes/outcome.hpp"

#include "doctest/doctest.h"

namespace resprout::sim {
namespace {

LanesOutcome survivor(LaneResult first, LaneResult behind = LaneResult::none) {
  LanesOutcome outcome{.is_survivor = true, .has_ended = true};
  outcome.failed = first == LaneResult::over || behind == LaneResult::over;
  outcome.results[0] = {first, behind};
  return outcome;
}

LanesOutcome lost(LaneResult first) {
  LanesOutcome outcome = survivor(first);
  outcome.is_survivor = outcome.has_ended = false;
  return outcome;
}

TEST_CASE("lanes are right if all survivors come to the same end") {
  const LanesOutcome done[] = {survivor(LaneResult::done), survivor(LaneResult::done)};
  CHECK_FALSE(check_lanes(done));
  const LanesOutcome over[] = {survivor(LaneResult::over), survivor(LaneResult::over),
                               lost(LaneResult::none)};
  CHECK_FALSE(check_lanes(over));
  const LanesOutcome revoked[] = {survivor(LaneResult::done), survivor(LaneResult::given_up)};
  CHECK_FALSE(check_lanes(revoked));
}

TEST_CASE("lanes are wrong if what is done at one member is over at another, which may be lost") {
  const LanesOutcome first[] = {lost(LaneResult::done), survivor(LaneResult::over)};
  CHECK(check_lanes(first) ==
        "operation 1 is done at one of members 0 and 1 and over at the other");
  const LanesOutcome behind[] = {survivor(LaneResult::done, LaneResult::over),
                                 survivor(LaneResult::done, LaneResult::done),
                                 lost(LaneResult::none)};
  CHECK(check_lanes(behind) ==
        "the meeting behind operation 1 is done at one of members 0 and 1 and over at the other");
}

TEST_CASE("lanes are wrong if survivors go over those of different members, or end with them") {
  LanesOutcome outcomes[] = {survivor(LaneResult::done), survivor(LaneResult::done),
                             lost(LaneResult::none)};
  outcomes[0].agreed = outcomes[1].agreed = 0b011;
  outcomes[0].lanes[0] = outcomes[1].lanes[0] = 0b111;
  CHECK_FALSE(check_lanes(outcomes));
  outcomes[1].lanes[0] = 0b011;
  CHECK(check_lanes(outcomes) == "members 0 and 1 disagree on who takes part");
  outcomes[1].lanes[0] = 0;  // it went over none
  CHECK_FALSE(check_lanes(outcomes));
  outcomes[1].agreed = 0b111;
  CHECK(check_lanes(outcomes) == "members 0 and 1 disagree on who takes part");
  outcomes[1].is_revoked = true;
  CHECK_FALSE(check_lanes(outcomes));
}

TEST_CASE("what is over in some lanes may be done in others, by who was left out of these") {
  LanesOutcome outcomes[] = {lost(LaneResult::done), survivor(LaneResult::over)};
  outcomes[0].lanes[0] = 0b01;
  outcomes[1].lanes[0] = 0b11;
  CHECK_FALSE(check_lanes(outcomes));
}

TEST_CASE("lanes are wrong if a survivor does not come to its end; who is lost need not") {
  LanesOutcome outcomes[] = {survivor(LaneResult::done), lost(LaneResult::none)};
  CHECK_FALSE(check_lanes(outcomes));
  outcomes[0].has_ended = false;
  CHECK(check_lanes(outcomes) == "member 0 waits for ever");
}

TEST_CASE("lanes are wrong if they are over though nobody is lost") {
  const LanesOutcome outcomes[] = {survivor(LaneResult::over), survivor(LaneResult::over)};
  CHECK(check_lanes(outcomes) == "member 0 is over, though nobody is lost");
}

}  // namespace
}  // namespace resprout::sim
