// Slots in areas of plain memory: what they say, and when they are used again.
#include "runtime/slot_memory.hpp"

#include <array>
#include <cstring>
#include <thread>
#include <vector>

#include "doctest/doctest.h"
#include "protocols/shared_slots/shared_slots.hpp"

namespace resprout::runtime {
namespace {

using protocols::SharedSlot;
using protocols::SlotKind;
using protocols::SlotWord;
using Step = protocols::SharedSlots::Step;

class Areas {
 public:
  explicit Areas(int members) : members_(members), bytes_(count() * SlotMemory::area_bytes / 8) {}

  SlotArea at(int member) {
    return {reinterpret_cast<std::byte*>(bytes_.data()) + member * SlotMemory::area_bytes, 0};
  }
  SlotMemory of(int self) {
    SlotMemory memory(self, members_);
    for (int i = 0; i < members_; ++i) memory.know(i, at(i));
    return memory;
  }

 private:
  std::size_t count() const { return static_cast<std::size_t>(members_); }

  const int members_;
  std::vector<std::uint64_t> bytes_;
};

// One of two members, with its machine.
struct Member {
  Member(Areas& areas, int self)
      : memory(areas.of(self)),
        machine({2, SlotMemory::broadcast_slots, SlotMemory::rendezvous_slots}, rank_at(self)) {}

  SlotWord look(std::size_t bytes = 0) const {
    return memory.look(1 - memory.self(), machine.slot(), bytes);
  }
  void enter(const void* payload, std::size_t bytes) {
    if (machine.step() == Step::none) machine.start_rendezvous(false);
    memory.write(machine.poll_write().slot, payload, bytes);
  }
  // The other one has entered.
  void leave_rendezvous() {
    REQUIRE(machine.step() == Step::look);
    REQUIRE(look() == SlotWord::full);
    machine.handle_look(SlotWord::full, false);
    machine.poll_read();
  }
  long contribution() const {
    long value = 0;
    std::memcpy(&value, memory.payload(1 - memory.self(), machine.slot(), 0), sizeof value);
    return value;
  }

  SlotMemory memory;
  protocols::SharedSlots machine;
};

std::vector<std::byte> payload_of(std::size_t bytes, int seed) {
  std::vector<std::byte> payload(bytes);
  for (std::size_t i = 0; i < bytes; ++i)
    payload[i] = static_cast<std::byte>(seed + static_cast<int>(i));
  return payload;
}

TEST_CASE(
    "shared slots: a root runs ahead by as many broadcasts as may lie between two rendezvous") {
  Areas areas(2);
  Member root(areas, 0);
  Member other(areas, 1);
  const auto size_of = [](unsigned i) {
    return std::size_t{i % SlotMemory::broadcast_bytes_max} + 1;
  };
  for (const int round : {0, 1, 2}) {
    for (unsigned i = 0; i < SlotMemory::broadcast_slots; ++i) {
      if (i == 0)
        CHECK(other.memory.look(0, other.machine.broadcast_slot(), size_of(i)) == SlotWord::empty);
      const auto payload = payload_of(size_of(i), round + static_cast<int>(i));
      REQUIRE(root.machine.step() == Step::none);
      root.machine.start_broadcast(rank_at(0), false);
      root.memory.write(root.machine.poll_write().slot, payload.data(), payload.size());
    }
    for (unsigned i = 0; i < SlotMemory::broadcast_slots; ++i) {
      REQUIRE(other.machine.step() == Step::none);
      other.machine.start_broadcast(rank_at(0), false);
      REQUIRE(other.look(size_of(i)) == SlotWord::full);
      other.machine.handle_look(SlotWord::full, false);
      std::vector<std::byte> received(size_of(i));
      other.memory.read(0, other.machine.poll_read(), received.data(), received.size());
      CHECK(received == payload_of(size_of(i), round + static_cast<int>(i)));
    }
    for (Member* member : {&root, &other}) {
      REQUIRE(member->machine.step() == Step::write);
      member->enter(nullptr, 0);
    }
    for (Member* member : {&root, &other}) member->leave_rendezvous();
  }
}

TEST_CASE("shared slots: contributions to a rendezvous stand while the next one is under way") {
  Areas areas(2);
  Member fast(areas, 0);
  Member slow(areas, 1);
  long value = 3;
  fast.enter(&value, sizeof value);
  slow.enter(&value, sizeof value);
  fast.leave_rendezvous();
  value = 4;
  fast.enter(&value, sizeof value);
  CHECK(fast.look() == SlotWord::empty);
  REQUIRE(slow.look() == SlotWord::full);
  CHECK(slow.contribution() == 3);
  slow.leave_rendezvous();
  slow.enter(&value, sizeof value);
  REQUIRE(slow.look() == SlotWord::full);
  CHECK(slow.contribution() == 4);
}

TEST_CASE("shared slots: who leaves is seen by all, in this operation only") {
  Areas areas(3);
  SlotMemory a = areas.of(0);
  const SlotMemory b = areas.of(1);
  const SharedSlot rendezvous{SlotKind::rendezvous, 0, 0};
  a.leave(rendezvous, 0);
  CHECK(b.look(0, rendezvous, 0) == SlotWord::left);
  CHECK(b.look(2, rendezvous, 0) == SlotWord::empty);
  CHECK(b.look(0, {SlotKind::rendezvous, 1, 1}, 0) == SlotWord::empty);
  CHECK(b.look(0, {SlotKind::rendezvous, 0, 2}, 0) == SlotWord::empty);
  const SharedSlot broadcast{SlotKind::broadcast, 7, 7};
  a.leave(broadcast, 8);
  CHECK(b.look(0, broadcast, 8) == SlotWord::left);
  CHECK(b.look(0, broadcast, 9) == SlotWord::empty);
  CHECK(b.look(0, {SlotKind::broadcast, 7, 7 + SlotMemory::broadcast_slots}, 8) == SlotWord::empty);
}

TEST_CASE("shared slots: a slot says how many bytes it has, whatever others want to read") {
  Areas areas(2);
  SlotMemory a = areas.of(0);
  const SlotMemory b = areas.of(1);
  for (std::uint32_t i = 0; i <= SlotMemory::rendezvous_bytes_max; i += 512) {
    const SharedSlot next{SlotKind::rendezvous, i % 2, i};
    a.write(next, payload_of(i, 0).data(), i);
    CHECK(b.look(0, next, 0) == SlotWord::full);
    CHECK(b.bytes_of(0, next, 0) == i);
  }
  const SharedSlot broadcast{SlotKind::broadcast, 3, 3};
  a.write(broadcast, "abcde", 5);
  CHECK(b.look(0, broadcast, 8) == SlotWord::full);
  CHECK(b.bytes_of(0, broadcast, 8) == 5);
  CHECK(b.look(0, broadcast, 9) == SlotWord::empty);
}

TEST_CASE("shared slots: who sees a slot full sees the payload, between threads that run") {
  Areas areas(2);
  Member one(areas, 0);
  Member other(areas, 1);
  const auto run = [](Member& member, bool& is_right) {
    const int peer = 1 - member.memory.self();
    for (long i = 0; i < 3000; ++i) {
      const std::array<long, 40> mine{i, i + member.memory.self()};
      member.enter(mine.data(), sizeof mine);
      while (member.look() != SlotWord::full) std::this_thread::yield();
      std::array<long, 40> found;
      std::memcpy(found.data(), member.memory.payload(peer, member.machine.slot(), 0),
                  sizeof found);
      is_right = is_right && found[0] == i && found[1] == i + peer && found[39] == 0;
      member.leave_rendezvous();
    }
  };
  bool is_one_right = true;
  bool is_other_right = true;
  std::thread thread([&] { run(other, is_other_right); });
  run(one, is_one_right);
  thread.join();
  CHECK(is_one_right);
  CHECK(is_other_right);
}

TEST_CASE("shared slots: of whose area nothing is known nothing is seen") {
  Areas areas(2);
  SlotMemory a = areas.of(0);
  SlotMemory b(1, 2);
  const SharedSlot rendezvous{SlotKind::rendezvous, 0, 0};
  a.write(rendezvous, "x", 1);
  CHECK_FALSE(b.knows(0));
  CHECK(b.look(0, rendezvous, 0) == SlotWord::empty);
  b.know(0, areas.at(0));
  CHECK(b.knows(0));
  CHECK(b.look(0, rendezvous, 0) == SlotWord::full);
}

TEST_CASE("shared slots: what was written below the base is of others") {
  Areas areas(2);
  SlotMemory before = areas.of(0);
  before.write({SlotKind::rendezvous, 0, 0}, "x", 1);
  before.leave({SlotKind::rendezvous, 1, 1}, 0);
  constexpr std::uint64_t operations = 2;
  SlotMemory own(0, 1);
  own.know(0, {areas.at(0).memory, SlotMemory::stamps_each * operations});
  for (std::uint32_t i = 0; i < 2; ++i) {
    CHECK(own.look(0, {SlotKind::rendezvous, i, i}, 0) == SlotWord::empty);
    own.leave({SlotKind::rendezvous, i, i}, 0);
    CHECK(own.look(0, {SlotKind::rendezvous, i, i}, 0) == SlotWord::left);
  }
}

}  // namespace
}  // namespace resprout::runtime
