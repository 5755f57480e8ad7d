// The machine of one member, told by hand what stands in the slots. Members are called 0, 1 and 2.
#include "protocols/lanes/lanes.hpp"

#include "doctest/doctest.h"

namespace resprout::protocols {
namespace {

using Step = Lanes::Step;

Lanes member(std::int32_t self, std::int32_t members = 3, std::uint32_t broadcast_slots = 4) {
  return {{members, broadcast_slots, 2}, rank_at(self)};
}

void see(Lanes& lanes, LaneWord word, bool has_ended = false) {
  REQUIRE(lanes.step() == Step::look);
  lanes.handle_look(word, has_ended);
}

LaneSlot write(Lanes& lanes, LaneWord word = LaneWord::full) {
  REQUIRE(lanes.step() == Step::write);
  const LaneWrite written = lanes.poll_write();
  CHECK(written.word == word);
  return written.slot;
}

LaneSlot read(Lanes& lanes) {
  REQUIRE(lanes.step() == Step::read);
  return lanes.poll_read();
}

// A broadcast that somebody else begins.
LaneSlot receive(Lanes& lanes, std::int32_t root, bool knows_of_loss = false) {
  lanes.start_broadcast(rank_at(root), knows_of_loss);
  see(lanes, LaneWord::full);
  return read(lanes);
}

LaneSlot send(Lanes& lanes, std::int32_t self) {
  lanes.start_broadcast(rank_at(self), false);
  return write(lanes);
}

// All others come.
LaneSlot meet(Lanes& lanes) {
  const LaneSlot own = write(lanes);
  while (lanes.step() == Step::look) see(lanes, LaneWord::full);
  CHECK(read(lanes).number == own.number);
  return own;
}

TEST_CASE("lanes: a broadcast is done at its root when it is written, elsewhere when it is read") {
  Lanes root = member(1);
  send(root, 1);
  CHECK(root.step() == Step::none);
  Lanes other = member(0);
  other.start_broadcast(rank_at(1), false);
  CHECK(other.awaited() == rank_at(1));
  see(other, LaneWord::empty);
  CHECK(other.step() == Step::look);
  see(other, LaneWord::full);
  CHECK(read(other).number == 0);
  CHECK(other.step() == Step::none);
  CHECK(other.broadcast_slot().number == 1);
}

TEST_CASE("lanes: a meeting waits for the slots of all others, whoever comes first") {
  for (const std::int32_t self : {0, 1, 2}) {
    Lanes lanes = member(self);
    lanes.start_meeting(false);
    CHECK(write(lanes).kind == LaneKind::meeting);
    for (const std::int32_t other : {0, 1, 2}) {
      if (other == self) continue;
      REQUIRE(lanes.step() == Step::look);
      CHECK(lanes.awaited() == rank_at(other));
      see(lanes, LaneWord::empty);
      CHECK(lanes.awaited() == rank_at(other));
      see(lanes, LaneWord::full);
    }
    read(lanes);
    CHECK(lanes.step() == Step::none);
  }
}

TEST_CASE("lanes: a member alone meets nobody") {
  Lanes lanes = member(0, 1);
  lanes.start_meeting(false);
  meet(lanes);
  CHECK(lanes.step() == Step::none);
}

TEST_CASE("lanes: who knows of a loss leaves its own meetings and broadcasts, and is over") {
  Lanes meeting = member(0);
  meeting.start_meeting(true);
  CHECK(write(meeting, LaneWord::left).kind == LaneKind::meeting);
  CHECK(meeting.is_over());
  Lanes root = member(0);
  root.start_broadcast(rank_at(0), true);
  CHECK(write(root, LaneWord::left).kind == LaneKind::broadcast);
  CHECK(root.is_over());
}

TEST_CASE("lanes: who knows of a loss takes a broadcast whose root does not") {
  Lanes lanes = member(0);
  receive(lanes, 1, true);
  CHECK(lanes.step() == Step::none);
}

TEST_CASE("lanes: who was interrupted in a call that ends with a meeting says that it leaves") {
  Lanes lanes = member(2);
  lanes.handle_interruption();
  CHECK(write(lanes, LaneWord::left).kind == LaneKind::meeting);
  CHECK(lanes.is_over());
}

TEST_CASE("lanes: it is over where a slot is left, or is empty and its owner has ended") {
  for (const LaneWord word : {LaneWord::left, LaneWord::empty}) {
    Lanes broadcast = member(0);
    broadcast.start_broadcast(rank_at(2), false);
    see(broadcast, word, word == LaneWord::empty);
    CHECK(broadcast.is_over());
    Lanes meeting = member(0);
    meeting.start_meeting(false);
    write(meeting);
    see(meeting, LaneWord::full);
    see(meeting, word, word == LaneWord::empty);
    CHECK(meeting.is_over());
  }
}

TEST_CASE("lanes: what was written counts, whatever became of its owner") {
  Lanes lanes = member(0);
  lanes.start_broadcast(rank_at(2), true);
  see(lanes, LaneWord::full, true);
  CHECK(lanes.step() == Step::read);
}

TEST_CASE("lanes: a meeting is due behind as many broadcasts as there are slots") {
  Lanes lanes = member(0);
  for (std::uint32_t i = 0; i < 3; ++i) {
    CHECK(lanes.broadcast_slot().index == i);
    i % 2 == 0 ? send(lanes, 0) : receive(lanes, 1);
    CHECK(lanes.step() == Step::none);
  }
  receive(lanes, 2);
  CHECK(meet(lanes).kind == LaneKind::meeting);
  CHECK(lanes.step() == Step::none);
  CHECK(lanes.broadcast_slot().index == 0);
  CHECK(lanes.broadcast_slot().number == 4);
  CHECK(lanes.meeting_slot().index == 1);
}

TEST_CASE("lanes: a meeting of the program's own is as good as one that is due") {
  Lanes lanes = member(0);
  for (int i = 0; i < 3; ++i) send(lanes, 0);
  lanes.start_meeting(false);
  meet(lanes);
  for (int i = 0; i < 3; ++i) send(lanes, 0);
  CHECK(lanes.step() == Step::none);
  send(lanes, 0);
  CHECK(lanes.step() == Step::write);
}

TEST_CASE("lanes: the meeting behind a broadcast may be over where the broadcast is done") {
  Lanes lanes = member(0, 3, 1);
  send(lanes, 0);
  CHECK(write(lanes).kind == LaneKind::meeting);
  see(lanes, LaneWord::left);
  CHECK(lanes.is_over());
  CHECK(lanes.broadcast_slot().number == 1);
}

TEST_CASE("lanes: meetings take turns with their slots") {
  Lanes lanes = member(1);
  for (std::uint32_t i = 0; i < 5; ++i) {
    lanes.start_meeting(false);
    const LaneSlot own = meet(lanes);
    CHECK(own.index == i % 2);
    CHECK(own.number == i);
  }
}

Lanes member_that_has_met(std::int32_t self, std::uint32_t broadcast_slots = 4) {
  Lanes lanes = member(self, 3, broadcast_slots);
  lanes.start_meeting(false);
  meet(lanes);
  return lanes;
}

TEST_CASE("lanes: there is no gather before the first meeting") {
  CHECK(!member(0).can_gather());
  CHECK(member_that_has_met(0).can_gather());
}

TEST_CASE("lanes: who only gives to a gather is done when it has written") {
  Lanes lanes = member_that_has_met(1);
  lanes.start_gather(rank_at(0), rank_at(0), true);
  CHECK(write(lanes).kind == LaneKind::broadcast);
  CHECK(lanes.step() == Step::none);
  CHECK(lanes.broadcast_slot().number == 1);
}

TEST_CASE("lanes: who neither gives to a gather nor takes is done with it") {
  Lanes lanes = member_that_has_met(0);
  lanes.start_gather(rank_at(0), rank_at(0), false);
  CHECK(lanes.step() == Step::none);
  CHECK(lanes.broadcast_slot().number == 1);
}

TEST_CASE("lanes: the root of a gather waits for the slots of all others") {
  for (const std::int32_t self : {0, 1, 2}) {
    Lanes lanes = member_that_has_met(self);
    lanes.start_gather(rank_at(0), rank_at(3), false);
    for (const std::int32_t other : {0, 1, 2}) {
      if (other == self) continue;
      CHECK(lanes.awaited() == rank_at(other));
      see(lanes, LaneWord::empty);
      CHECK(lanes.awaited() == rank_at(other));
      see(lanes, LaneWord::full);
    }
    CHECK(read(lanes).number == 0);
    CHECK(lanes.step() == Step::none);
  }
}

TEST_CASE("lanes: a member of a scan gives, then waits for those below it") {
  Lanes lanes = member_that_has_met(2);
  lanes.start_gather(rank_at(0), rank_at(2), true);
  write(lanes);
  see(lanes, LaneWord::full);
  CHECK(lanes.awaited() == rank_at(1));
  see(lanes, LaneWord::full);
  CHECK(read(lanes).kind == LaneKind::broadcast);
  CHECK(lanes.step() == Step::none);
}

TEST_CASE("lanes: a gather leaves out who has ended without writing, and goes on") {
  Lanes lanes = member_that_has_met(0);
  lanes.start_gather(rank_at(0), rank_at(3), false);
  see(lanes, LaneWord::empty, true);
  CHECK(lanes.awaited() == rank_at(2));
  see(lanes, LaneWord::full, true);
  read(lanes);
  CHECK(lanes.step() == Step::none);
  lanes.start_broadcast(rank_at(0), true);
  write(lanes, LaneWord::left);
  CHECK(lanes.is_over());
}

TEST_CASE("lanes: a gather in which somebody has left is over: the program is wrong") {
  Lanes lanes = member_that_has_met(0);
  lanes.start_gather(rank_at(0), rank_at(3), false);
  see(lanes, LaneWord::left);
  CHECK(lanes.is_over());
}

TEST_CASE("lanes: a meeting is due behind gathers as behind broadcasts") {
  Lanes lanes = member_that_has_met(0, 2);
  lanes.start_gather(rank_at(0), rank_at(0), true);
  write(lanes);
  lanes.start_gather(rank_at(1), rank_at(2), false);
  see(lanes, LaneWord::full);
  CHECK(read(lanes).index == 1);
  CHECK(meet(lanes).kind == LaneKind::meeting);
  CHECK(lanes.step() == Step::none);
  CHECK(lanes.broadcast_slot().index == 0);
}

TEST_CASE("lanes: who is told that they have ended waits no longer") {
  Lanes lanes = member(0);
  lanes.start_broadcast(rank_at(1), false);
  lanes.end();
  CHECK(lanes.is_over());
}

}  // namespace
}  // namespace resprout::protocols
