// The machine of one member, told by hand what stands in the slots. Members are called 0, 1 and 2.
#include "protocols/shared_slots/shared_slots.hpp"

#include "doctest/doctest.h"

namespace resprout::protocols {
namespace {

using Step = SharedSlots::Step;

SharedSlots member(std::int32_t self, std::int32_t members = 3, std::uint32_t broadcast_slots = 4) {
  return {{members, broadcast_slots, 2}, rank_at(self)};
}

void see(SharedSlots& shared_slots, SlotWord word, bool has_ended = false) {
  REQUIRE(shared_slots.step() == Step::look);
  shared_slots.handle_look(word, has_ended);
}

SharedSlot write(SharedSlots& shared_slots, SlotWord word = SlotWord::full) {
  REQUIRE(shared_slots.step() == Step::write);
  const SlotWrite written = shared_slots.poll_write();
  CHECK(written.word == word);
  return written.slot;
}

SharedSlot read(SharedSlots& shared_slots) {
  REQUIRE(shared_slots.step() == Step::read);
  return shared_slots.poll_read();
}

// A broadcast that somebody else begins.
SharedSlot receive(SharedSlots& shared_slots, std::int32_t root, bool knows_of_loss = false) {
  shared_slots.start_broadcast(rank_at(root), knows_of_loss);
  see(shared_slots, SlotWord::full);
  return read(shared_slots);
}

SharedSlot send(SharedSlots& shared_slots, std::int32_t self) {
  shared_slots.start_broadcast(rank_at(self), false);
  return write(shared_slots);
}

// All others come.
SharedSlot meet(SharedSlots& shared_slots) {
  const SharedSlot own = write(shared_slots);
  while (shared_slots.step() == Step::look) see(shared_slots, SlotWord::full);
  CHECK(read(shared_slots).number == own.number);
  return own;
}

TEST_CASE(
    "shared slots: a broadcast is done at its root when it is written, elsewhere when it is read") {
  SharedSlots root = member(1);
  send(root, 1);
  CHECK(root.step() == Step::none);
  SharedSlots other = member(0);
  other.start_broadcast(rank_at(1), false);
  CHECK(other.awaited() == rank_at(1));
  see(other, SlotWord::empty);
  CHECK(other.step() == Step::look);
  see(other, SlotWord::full);
  CHECK(read(other).number == 0);
  CHECK(other.step() == Step::none);
  CHECK(other.broadcast_slot().number == 1);
}

TEST_CASE("shared slots: a rendezvous waits for the slots of all others, whoever comes first") {
  for (const std::int32_t self : {0, 1, 2}) {
    SharedSlots shared_slots = member(self);
    shared_slots.start_rendezvous(false);
    CHECK(write(shared_slots).kind == SlotKind::rendezvous);
    for (const std::int32_t other : {0, 1, 2}) {
      if (other == self) continue;
      REQUIRE(shared_slots.step() == Step::look);
      CHECK(shared_slots.awaited() == rank_at(other));
      see(shared_slots, SlotWord::empty);
      CHECK(shared_slots.awaited() == rank_at(other));
      see(shared_slots, SlotWord::full);
    }
    read(shared_slots);
    CHECK(shared_slots.step() == Step::none);
  }
}

TEST_CASE("shared slots: a member alone meets nobody") {
  SharedSlots shared_slots = member(0, 1);
  shared_slots.start_rendezvous(false);
  meet(shared_slots);
  CHECK(shared_slots.step() == Step::none);
}

TEST_CASE(
    "shared slots: who knows of a loss leaves its own rendezvous and broadcasts, and is over") {
  SharedSlots rendezvous = member(0);
  rendezvous.start_rendezvous(true);
  CHECK(write(rendezvous, SlotWord::left).kind == SlotKind::rendezvous);
  CHECK(rendezvous.is_over());
  SharedSlots root = member(0);
  root.start_broadcast(rank_at(0), true);
  CHECK(write(root, SlotWord::left).kind == SlotKind::broadcast);
  CHECK(root.is_over());
}

TEST_CASE("shared slots: who knows of a loss takes a broadcast whose root does not") {
  SharedSlots shared_slots = member(0);
  receive(shared_slots, 1, true);
  CHECK(shared_slots.step() == Step::none);
}

TEST_CASE(
    "shared slots: who was interrupted in a call that ends with a rendezvous says that it leaves") {
  SharedSlots shared_slots = member(2);
  shared_slots.handle_interruption();
  CHECK(write(shared_slots, SlotWord::left).kind == SlotKind::rendezvous);
  CHECK(shared_slots.is_over());
}

TEST_CASE("shared slots: it is over where a slot is left, or is empty and its owner has ended") {
  for (const SlotWord word : {SlotWord::left, SlotWord::empty}) {
    SharedSlots broadcast = member(0);
    broadcast.start_broadcast(rank_at(2), false);
    see(broadcast, word, word == SlotWord::empty);
    CHECK(broadcast.is_over());
    SharedSlots rendezvous = member(0);
    rendezvous.start_rendezvous(false);
    write(rendezvous);
    see(rendezvous, SlotWord::full);
    see(rendezvous, word, word == SlotWord::empty);
    CHECK(rendezvous.is_over());
  }
}

TEST_CASE("shared slots: what was written counts, whatever became of its owner") {
  SharedSlots shared_slots = member(0);
  shared_slots.start_broadcast(rank_at(2), true);
  see(shared_slots, SlotWord::full, true);
  CHECK(shared_slots.step() == Step::read);
}

TEST_CASE("shared slots: a rendezvous is due behind as many broadcasts as there are slots") {
  SharedSlots shared_slots = member(0);
  for (std::uint32_t i = 0; i < 3; ++i) {
    CHECK(shared_slots.broadcast_slot().index == i);
    i % 2 == 0 ? send(shared_slots, 0) : receive(shared_slots, 1);
    CHECK(shared_slots.step() == Step::none);
  }
  receive(shared_slots, 2);
  CHECK(meet(shared_slots).kind == SlotKind::rendezvous);
  CHECK(shared_slots.step() == Step::none);
  CHECK(shared_slots.broadcast_slot().index == 0);
  CHECK(shared_slots.broadcast_slot().number == 4);
  CHECK(shared_slots.rendezvous_slot().index == 1);
}

TEST_CASE("shared slots: a rendezvous of the program's own is as good as one that is due") {
  SharedSlots shared_slots = member(0);
  for (int i = 0; i < 3; ++i) send(shared_slots, 0);
  shared_slots.start_rendezvous(false);
  meet(shared_slots);
  for (int i = 0; i < 3; ++i) send(shared_slots, 0);
  CHECK(shared_slots.step() == Step::none);
  send(shared_slots, 0);
  CHECK(shared_slots.step() == Step::write);
}

TEST_CASE(
    "shared slots: the rendezvous behind a broadcast may be over where the broadcast is done") {
  SharedSlots shared_slots = member(0, 3, 1);
  send(shared_slots, 0);
  CHECK(write(shared_slots).kind == SlotKind::rendezvous);
  see(shared_slots, SlotWord::left);
  CHECK(shared_slots.is_over());
  CHECK(shared_slots.broadcast_slot().number == 1);
}

TEST_CASE("shared slots: rendezvous take turns with their slots") {
  SharedSlots shared_slots = member(1);
  for (std::uint32_t i = 0; i < 5; ++i) {
    shared_slots.start_rendezvous(false);
    const SharedSlot own = meet(shared_slots);
    CHECK(own.index == i % 2);
    CHECK(own.number == i);
  }
}

SharedSlots member_that_has_met(std::int32_t self, std::uint32_t broadcast_slots = 4) {
  SharedSlots shared_slots = member(self, 3, broadcast_slots);
  shared_slots.start_rendezvous(false);
  meet(shared_slots);
  return shared_slots;
}

TEST_CASE("shared slots: there is no gather before the first rendezvous") {
  CHECK(!member(0).can_gather());
  CHECK(member_that_has_met(0).can_gather());
}

TEST_CASE("shared slots: who only gives to a gather is done when it has written") {
  SharedSlots shared_slots = member_that_has_met(1);
  shared_slots.start_gather(rank_at(0), rank_at(0), true);
  CHECK(write(shared_slots).kind == SlotKind::broadcast);
  CHECK(shared_slots.step() == Step::none);
  CHECK(shared_slots.broadcast_slot().number == 1);
}

TEST_CASE("shared slots: who neither gives to a gather nor takes is done with it") {
  SharedSlots shared_slots = member_that_has_met(0);
  shared_slots.start_gather(rank_at(0), rank_at(0), false);
  CHECK(shared_slots.step() == Step::none);
  CHECK(shared_slots.broadcast_slot().number == 1);
}

TEST_CASE("shared slots: the root of a gather waits for the slots of all others") {
  for (const std::int32_t self : {0, 1, 2}) {
    SharedSlots shared_slots = member_that_has_met(self);
    shared_slots.start_gather(rank_at(0), rank_at(3), false);
    for (const std::int32_t other : {0, 1, 2}) {
      if (other == self) continue;
      CHECK(shared_slots.awaited() == rank_at(other));
      see(shared_slots, SlotWord::empty);
      CHECK(shared_slots.awaited() == rank_at(other));
      see(shared_slots, SlotWord::full);
    }
    CHECK(read(shared_slots).number == 0);
    CHECK(shared_slots.step() == Step::none);
  }
}

TEST_CASE("shared slots: a member of a scan gives, then waits for those below it") {
  SharedSlots shared_slots = member_that_has_met(2);
  shared_slots.start_gather(rank_at(0), rank_at(2), true);
  write(shared_slots);
  see(shared_slots, SlotWord::full);
  CHECK(shared_slots.awaited() == rank_at(1));
  see(shared_slots, SlotWord::full);
  CHECK(read(shared_slots).kind == SlotKind::broadcast);
  CHECK(shared_slots.step() == Step::none);
}

TEST_CASE("shared slots: a gather leaves out who has ended without writing, and goes on") {
  SharedSlots shared_slots = member_that_has_met(0);
  shared_slots.start_gather(rank_at(0), rank_at(3), false);
  see(shared_slots, SlotWord::empty, true);
  CHECK(shared_slots.awaited() == rank_at(2));
  see(shared_slots, SlotWord::full, true);
  read(shared_slots);
  CHECK(shared_slots.step() == Step::none);
  shared_slots.start_broadcast(rank_at(0), true);
  write(shared_slots, SlotWord::left);
  CHECK(shared_slots.is_over());
}

TEST_CASE("shared slots: a gather in which somebody has left is over: the program is wrong") {
  SharedSlots shared_slots = member_that_has_met(0);
  shared_slots.start_gather(rank_at(0), rank_at(3), false);
  see(shared_slots, SlotWord::left);
  CHECK(shared_slots.is_over());
}

TEST_CASE("shared slots: a rendezvous is due behind gathers as behind broadcasts") {
  SharedSlots shared_slots = member_that_has_met(0, 2);
  shared_slots.start_gather(rank_at(0), rank_at(0), true);
  write(shared_slots);
  shared_slots.start_gather(rank_at(1), rank_at(2), false);
  see(shared_slots, SlotWord::full);
  CHECK(read(shared_slots).index == 1);
  CHECK(meet(shared_slots).kind == SlotKind::rendezvous);
  CHECK(shared_slots.step() == Step::none);
  CHECK(shared_slots.broadcast_slot().index == 0);
}

TEST_CASE("shared slots: a rendezvous that bears losses leaves out who has ended, and ends them") {
  for (const std::int32_t self : {0, 1}) {
    SharedSlots shared_slots = member(self);
    shared_slots.start_bearing_rendezvous();
    CHECK(write(shared_slots).kind == SlotKind::rendezvous);
    see(shared_slots, SlotWord::full, true);
    CHECK(!shared_slots.is_short());
    see(shared_slots, SlotWord::empty);
    CHECK(shared_slots.step() == Step::look);
    see(shared_slots, SlotWord::empty, true);
    CHECK(shared_slots.is_short());
    CHECK(read(shared_slots).number == 0);
    CHECK(shared_slots.is_over());
  }
}

TEST_CASE("shared slots: a rendezvous that bears losses is like any other if nobody is missing") {
  SharedSlots shared_slots = member(1);
  shared_slots.start_bearing_rendezvous();
  CHECK(shared_slots.bears_losses());
  CHECK(!shared_slots.is_gathering());
  meet(shared_slots);
  CHECK(shared_slots.step() == Step::none);
  CHECK(shared_slots.can_gather());
}

TEST_CASE("shared slots: a rendezvous that bears losses is over where somebody leaves") {
  for (const bool is_left_first : {true, false}) {
    SharedSlots shared_slots = member(0);
    shared_slots.start_bearing_rendezvous();
    write(shared_slots);
    if (!is_left_first) see(shared_slots, SlotWord::empty, true);
    see(shared_slots, SlotWord::left);
    CHECK(shared_slots.is_over());
  }
}

TEST_CASE("shared slots: no other rendezvous bears a loss because the one before did") {
  SharedSlots shared_slots = member(0);
  shared_slots.start_bearing_rendezvous();
  meet(shared_slots);
  shared_slots.start_rendezvous(false);
  write(shared_slots);
  see(shared_slots, SlotWord::empty, true);
  CHECK(shared_slots.is_over());
}

// In groups of two, of whose rendezvous it has written its slot.
SharedSlots member_that_meets(std::int32_t self, std::int32_t members, bool bears_losses = false) {
  SharedSlots shared_slots({members, 4, 2, 2}, rank_at(self));
  bears_losses ? shared_slots.start_bearing_rendezvous() : shared_slots.start_rendezvous(false);
  write(shared_slots);
  return shared_slots;
}

void record(SharedSlots& shared_slots, const SlotGroup& group) {
  REQUIRE(shared_slots.is_recording());
  CHECK(shared_slots.poll_record() == group);
}

TEST_CASE("shared slots: who has looked at all slots of a group records it, and then all of them") {
  for (const std::int32_t self : {0, 1, 2, 3, 4}) {
    SharedSlots shared_slots = member_that_meets(self, 5);
    for (const SlotGroup& group : {SlotGroup{0, 2}, SlotGroup{2, 4}, SlotGroup{4, 5}}) {
      for (std::int32_t other = group.first; other < group.end; ++other) {
        if (other == self) continue;
        REQUIRE(shared_slots.step() == Step::look);
        CHECK(shared_slots.group() == group);
        CHECK(shared_slots.awaited() == rank_at(other));
        see(shared_slots, SlotWord::full);
      }
      record(shared_slots, group);
    }
    record(shared_slots, {0, 5});
    read(shared_slots);
    CHECK(shared_slots.step() == Step::none);
  }
}

TEST_CASE("shared slots: who finds the record of a group looks at no more of it, and writes none") {
  SharedSlots shared_slots = member_that_meets(5, 6);
  see(shared_slots, SlotWord::full);
  shared_slots.handle_record(shared_slots.group());
  CHECK(shared_slots.group() == SlotGroup{2, 4});
  shared_slots.handle_record(shared_slots.group());
  CHECK(shared_slots.awaited() == rank_at(4));
  see(shared_slots, SlotWord::full);
  record(shared_slots, {4, 6});
  record(shared_slots, {0, 6});
  read(shared_slots);
}

TEST_CASE("shared slots: who finds the record of all is done") {
  SharedSlots shared_slots = member_that_meets(0, 5);
  see(shared_slots, SlotWord::empty);
  shared_slots.handle_record(shared_slots.everybody());
  read(shared_slots);
  CHECK(shared_slots.step() == Step::none);
  CHECK(shared_slots.can_gather());
}

TEST_CASE("shared slots: who has left out somebody writes no record, and finds those of others") {
  SharedSlots shared_slots = member_that_meets(1, 6, true);
  see(shared_slots, SlotWord::empty, true);
  CHECK(shared_slots.is_short());
  CHECK(shared_slots.awaited() == rank_at(2));
  shared_slots.handle_record(shared_slots.group());
  see(shared_slots, SlotWord::full);
  see(shared_slots, SlotWord::full);
  CHECK(shared_slots.is_short());
  read(shared_slots);
  CHECK(shared_slots.is_over());
}

TEST_CASE("shared slots: a group in which somebody leaves ends a rendezvous as any other") {
  SharedSlots shared_slots = member_that_meets(0, 5);
  see(shared_slots, SlotWord::full);
  record(shared_slots, {0, 2});
  see(shared_slots, SlotWord::left);
  CHECK(shared_slots.is_over());
}

TEST_CASE("shared slots: no more members than a group has are in no groups") {
  SharedSlots shared_slots = member_that_meets(0, 2);
  CHECK(!shared_slots.has_groups());
  see(shared_slots, SlotWord::full);
  read(shared_slots);
}

TEST_CASE("shared slots: broadcasts and gathers have no records") {
  SharedSlots shared_slots = member_that_meets(0, 5);
  shared_slots.handle_record(shared_slots.everybody());
  read(shared_slots);
  shared_slots.start_gather(rank_at(0), rank_at(5), false);
  CHECK(!shared_slots.has_groups());
  for (int other = 1; other < 5; ++other) see(shared_slots, SlotWord::full);
  read(shared_slots);
  shared_slots.start_broadcast(rank_at(4), false);
  CHECK(!shared_slots.has_groups());
  see(shared_slots, SlotWord::full);
  read(shared_slots);
}

TEST_CASE("shared slots: who finds a record of those below goes on behind them in a scan") {
  SharedSlots shared_slots = member_that_meets(4, 6);
  shared_slots.handle_record(shared_slots.everybody());
  read(shared_slots);
  shared_slots.start_gather(rank_at(0), rank_at(5), true);
  write(shared_slots);
  see(shared_slots, SlotWord::full);
  CHECK(shared_slots.range_end() == rank_at(5));
  shared_slots.handle_prefix(rank_at(2));
  CHECK(shared_slots.awaited() == rank_at(2));
  see(shared_slots, SlotWord::full);
  shared_slots.handle_prefix(rank_at(4));
  read(shared_slots);
  CHECK(shared_slots.step() == Step::none);
}

TEST_CASE("shared slots: who is told that they have ended waits no longer") {
  SharedSlots shared_slots = member(0);
  shared_slots.start_broadcast(rank_at(1), false);
  shared_slots.end();
  CHECK(shared_slots.is_over());
}

}  // namespace
}  // namespace resprout::protocols
