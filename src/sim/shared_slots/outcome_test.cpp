// What check_shared_slots finds wrong.
#include "sim/shared_slots/outcome.hpp"

#include "doctest/doctest.h"

namespace resprout::sim {
namespace {

SharedSlotsOutcome survivor(SlotResult first, SlotResult behind = SlotResult::none) {
  SharedSlotsOutcome outcome{.is_survivor = true, .has_ended = true};
  outcome.failed = first == SlotResult::over || behind == SlotResult::over;
  outcome.results[0] = {first, behind};
  return outcome;
}

SharedSlotsOutcome lost(SlotResult first) {
  SharedSlotsOutcome outcome = survivor(first);
  outcome.is_survivor = outcome.has_ended = false;
  return outcome;
}

TEST_CASE("shared slots are right if all survivors come to the same end") {
  const SharedSlotsOutcome done[] = {survivor(SlotResult::done), survivor(SlotResult::done)};
  CHECK_FALSE(check_shared_slots(done));
  const SharedSlotsOutcome over[] = {survivor(SlotResult::over), survivor(SlotResult::over),
                                     lost(SlotResult::none)};
  CHECK_FALSE(check_shared_slots(over));
  const SharedSlotsOutcome revoked[] = {survivor(SlotResult::done), survivor(SlotResult::given_up)};
  CHECK_FALSE(check_shared_slots(revoked));
}

TEST_CASE(
    "shared slots are wrong if what is done at one member is over at another, which may be lost") {
  const SharedSlotsOutcome first[] = {lost(SlotResult::done), survivor(SlotResult::over)};
  CHECK(check_shared_slots(first) ==
        "operation 1 is done at one of members 0 and 1 and over at the other");
  const SharedSlotsOutcome behind[] = {survivor(SlotResult::done, SlotResult::over),
                                       survivor(SlotResult::done, SlotResult::done),
                                       lost(SlotResult::none)};
  CHECK(
      check_shared_slots(behind) ==
      "the rendezvous behind operation 1 is done at one of members 0 and 1 and over at the other");
}

TEST_CASE(
    "shared slots are wrong if survivors go over those of different members, or end with them") {
  SharedSlotsOutcome outcomes[] = {survivor(SlotResult::done), survivor(SlotResult::done),
                                   lost(SlotResult::none)};
  outcomes[0].agreed = outcomes[1].agreed = 0b011;
  outcomes[0].shared_slots[0] = outcomes[1].shared_slots[0] = 0b111;
  CHECK_FALSE(check_shared_slots(outcomes));
  outcomes[1].shared_slots[0] = 0b011;
  CHECK(check_shared_slots(outcomes) == "members 0 and 1 disagree on who takes part");
  outcomes[1].shared_slots[0] = 0;  // it went over none
  CHECK_FALSE(check_shared_slots(outcomes));
  outcomes[1].agreed = 0b111;
  CHECK(check_shared_slots(outcomes) == "members 0 and 1 disagree on who takes part");
  outcomes[1].is_revoked = true;
  CHECK_FALSE(check_shared_slots(outcomes));
}

TEST_CASE("what is over in some shared slots may be done in others, by who was left out of these") {
  SharedSlotsOutcome outcomes[] = {lost(SlotResult::done), survivor(SlotResult::over)};
  outcomes[0].shared_slots[0] = 0b01;
  outcomes[1].shared_slots[0] = 0b11;
  CHECK_FALSE(check_shared_slots(outcomes));
}

TEST_CASE("shared slots are wrong if a survivor does not come to its end; who is lost need not") {
  SharedSlotsOutcome outcomes[] = {survivor(SlotResult::done), lost(SlotResult::none)};
  CHECK_FALSE(check_shared_slots(outcomes));
  outcomes[0].has_ended = false;
  CHECK(check_shared_slots(outcomes) == "member 0 waits for ever");
}

TEST_CASE("shared slots are wrong if they are over though nobody is lost") {
  const SharedSlotsOutcome outcomes[] = {survivor(SlotResult::over), survivor(SlotResult::over)};
  CHECK(check_shared_slots(outcomes) == "member 0 is over, though nobody is lost");
}

}  // namespace
}  // namespace resprout::sim
