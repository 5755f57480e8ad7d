// Records in areas of plain memory: who writes them, and what they say.
#include "runtime/slot_records.hpp"

#include <array>
#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#include "doctest/doctest.h"

namespace resprout::runtime {
namespace {

using protocols::SharedSlot;
using protocols::SlotGroup;
using protocols::SlotKind;

constexpr int members = 5;
constexpr SlotGroup low{0, 2};
constexpr SlotGroup high{2, 4};
constexpr SlotGroup all{0, members};

SharedSlot rendezvous(std::uint64_t number) {
  return {SlotKind::rendezvous, static_cast<std::uint32_t>(number % SlotMemory::rendezvous_slots),
          number};
}

class Areas {
 public:
  SlotMemory of(int self) {
    SlotMemory memory(self, members);
    for (int i = 0; i < members; ++i)
      memory.know(i, {reinterpret_cast<std::byte*>(words_.data()) + i * SlotMemory::area_bytes, 0});
    return memory;
  }

 private:
  std::vector<std::uint64_t> words_ =
      std::vector<std::uint64_t>(members * SlotMemory::area_bytes / sizeof(std::uint64_t));
};

std::uint64_t sum_of(const SlotRecords& records, const SlotGroup& group) {
  std::uint64_t value = 0;
  const auto sum = records.sum(group, sizeof value);
  if (!sum.empty()) std::memcpy(&value, sum.data(), sizeof value);
  return value;
}

void write(const SlotRecords& records, const SlotGroup& group, std::uint64_t value) {
  REQUIRE(records.maybe_begin(group));
  std::memcpy(records.room(group), &value, sizeof value);
  records.show(group, sizeof value);
}

TEST_CASE("records: one is there once its writer shows it, and one writes it") {
  Areas areas;
  const SlotMemory one = areas.of(1);
  const SlotMemory other = areas.of(4);
  const SlotRecords mine(one, rendezvous(0));
  const SlotRecords theirs(other, rendezvous(0));
  CHECK(!theirs.find(low).is_there);
  REQUIRE(mine.maybe_begin(low));
  CHECK(!theirs.maybe_begin(low));
  CHECK(!theirs.find(low).is_there);
  const std::uint64_t value = 7;
  std::memcpy(mine.room(low), &value, sizeof value);
  mine.show(low, sizeof value);
  CHECK(theirs.find(low).is_there);
  CHECK(sum_of(theirs, low) == 7);
  CHECK(!theirs.maybe_begin(low));
}

TEST_CASE("records: that of all is another one than that of the first group") {
  Areas areas;
  const SlotMemory slots = areas.of(0);
  const SlotRecords records(slots, rendezvous(0));
  write(records, low, 3);
  write(records, high, 4);
  CHECK(!records.find(all).is_there);
  write(records, all, 5);
  CHECK(sum_of(records, low) == 3);
  CHECK(sum_of(records, high) == 4);
  CHECK(sum_of(records, all) == 5);
}

TEST_CASE("records: one without a sum says that all are there") {
  Areas areas;
  const SlotMemory slots = areas.of(0);
  const SlotRecords records(slots, rendezvous(0));
  REQUIRE(records.maybe_begin(low));
  records.show(low, 0);
  CHECK(records.find(low).is_there);
  CHECK(records.sum(low, 0).empty());
  CHECK(records.sum(low, 8).empty());
}

TEST_CASE("records: a sum of another number of bytes is none") {
  Areas areas;
  const SlotMemory slots = areas.of(0);
  const SlotRecords records(slots, rendezvous(0));
  write(records, low, 3);
  CHECK(records.find(low).bytes == 8);
  CHECK(records.sum(low, 16).empty());
}

TEST_CASE("records: each rendezvous has its own, and one that was begun is written over later") {
  Areas areas;
  const SlotMemory slots = areas.of(0);
  write(SlotRecords(slots, rendezvous(0)), low, 1);
  REQUIRE(SlotRecords(slots, rendezvous(1)).maybe_begin(low));  // its writer has ended
  const SlotRecords third(slots, rendezvous(2));
  CHECK(!third.find(low).is_there);
  write(third, low, 2);
  CHECK(sum_of(third, low) == 2);
  const SlotRecords fourth(slots, rendezvous(3));
  CHECK(!fourth.find(low).is_there);
  write(fourth, low, 3);
  CHECK(sum_of(fourth, low) == 3);
}

TEST_CASE("records: those of a scan end with their members, and each scan has its own") {
  Areas areas;
  const SlotMemory slots = areas.of(0);
  const SlotRecords scan(slots, {SlotKind::broadcast, 3, 3});
  write(scan, {0, 2}, 6);
  write(scan, {0, 4}, 7);
  CHECK(sum_of(scan, {0, 2}) == 6);
  CHECK(sum_of(scan, {0, 4}) == 7);
  CHECK(!scan.find({0, 3}).is_there);
  CHECK(!scan.maybe_begin({0, 4}));
  CHECK(!SlotRecords(slots, {SlotKind::broadcast, 4, 4}).find({0, 4}).is_there);
  const SlotRecords later(slots, {SlotKind::broadcast, 3, 3 + SlotMemory::broadcast_slots});
  CHECK(!later.find({0, 4}).is_there);
  CHECK(later.maybe_begin({0, 4}));
}

TEST_CASE("records: there are none where the area is not known") {
  const SlotMemory slots(0, members);
  CHECK(!SlotRecords(slots, rendezvous(0)).find(low).is_there);
}

TEST_CASE("records: of threads that begin at once one writes, and all see what it wrote") {
  constexpr std::uint64_t rounds = 2000;
  Areas areas;
  std::array<std::atomic<std::uint64_t>, 2> at{};
  std::atomic<std::uint64_t> written{0};
  std::atomic<bool> is_right{true};
  const auto run = [&](std::size_t self) {
    const SlotMemory slots = areas.of(static_cast<int>(self));
    for (std::uint64_t round = 0; round < rounds; ++round) {
      const SlotRecords records(slots, rendezvous(round));
      if (records.maybe_begin(low)) {
        const std::uint64_t value = round + 1;
        std::memcpy(records.room(low), &value, sizeof value);
        records.show(low, sizeof value);
        ++written;
      }
      while (!records.find(low).is_there) std::this_thread::yield();
      if (sum_of(records, low) != round + 1) is_right = false;
      at[self] = round + 1;
      while (at[1 - self] < round + 1) std::this_thread::yield();
    }
  };
  std::thread thread([&] { run(1); });
  run(0);
  thread.join();
  CHECK(is_right);
  CHECK(written == rounds);
}

}  // namespace
}  // namespace resprout::runtime
