// Records of groups (protocols/shared_slots): that the slots of all members of a group are full,
// and perhaps the sum of what stands in them. In a rendezvous a record lies in the area of the
// group's first member; in a scan, where the group are all up to some member, in that of the last
// one. Any member may write it; the first one that begins to does.
//
// Invariants
//  1. Of an operation one process writes a record: the one whose exchange of the stamp succeeds.
//  2. What it says is visible by the one release store of the stamp that follows.
//  3. If its writer ends in between, it is never there. Nobody waits for it: the slots say the
//     same.
//
// Thread rule: as SlotMemory.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/slot_memory.hpp"

namespace resprout::runtime {

class SlotRecords {
 public:
  using Group = protocols::SlotGroup;
  using Slot = protocols::SharedSlot;

  // REQUIRES: `slots` outlives it. `slot`: of the rendezvous, or of the scan.
  SlotRecords(const SlotMemory& slots, const Slot& slot) : slots_(slots), slot_(slot) {}

  // What there is of a group. `bytes`: of the sum; 0: the record has none.
  struct Found {
    bool is_there = false;
    std::size_t bytes = 0;
  };
  Found find(const Group& group) const {
    if (!slots_.knows(owner(group))) return {};
    const std::uint64_t behind = stamp(group).load(std::memory_order_acquire) - full_stamp(group);
    if (behind > SlotMemory::rendezvous_bytes_max) return {};
    return {true, behind};
  }
  // The sum of a group. Empty: there is none of so many bytes.
  std::span<const std::byte> sum(const Group& group, std::size_t bytes) const {
    const Found found = find(group);
    if (!found.is_there || found.bytes != bytes || bytes == 0) return {};
    return {room(group), bytes};
  }

  // True: it is this process that writes the record, into `room` and by `show`. REQUIRES, of all
  // that follows: the area is known.
  bool maybe_begin(const Group& group) const {
    std::uint64_t there = stamp(group).load(std::memory_order_relaxed);
    const bool is_begun = there - full_stamp(group) <= later_max;
    return !is_begun && stamp(group).compare_exchange_strong(
                            there, full_stamp(group) + begun_behind, std::memory_order_acquire);
  }
  // For up to rendezvous_bytes_max bytes, aligned like the elements of any type; in a scan for up
  // to broadcast_bytes_max bytes, aligned like a double.
  std::byte* room(const Group& group) const {
    return place(group) + (is_prefix() ? sizeof(std::uint64_t) : alignof(std::max_align_t));
  }
  void show(const Group& group, std::size_t bytes) const {
    stamp(group).store(full_stamp(group) + bytes, std::memory_order_release);
  }

 private:
  // Its stamp, between those that are there and those of the next operation.
  static constexpr std::uint64_t begun_behind = SlotMemory::stamps_each - 2;
  static_assert(SlotMemory::rendezvous_bytes_max < begun_behind);
  // A stamp that is further behind is an earlier one.
  static constexpr std::uint64_t later_max = UINT64_MAX / 2;

  std::uint64_t full_stamp(const Group& group) const {
    return slots_.full_stamp(owner(group), slot_);
  }
  bool is_prefix() const { return slot_.kind == protocols::SlotKind::broadcast; }
  // In whose area it is.
  int owner(const Group& group) const { return is_prefix() ? group.end - 1 : group.first; }
  std::byte* place(const Group& group) const {
    if (is_prefix()) return slots_.prefix(owner(group), slot_);
    return slots_.record(group.first, group.end - group.first == slots_.size(), slot_);
  }
  std::atomic_ref<std::uint64_t> stamp(const Group& group) const {
    return std::atomic_ref(*reinterpret_cast<std::uint64_t*>(place(group)));
  }

  const SlotMemory& slots_;
  const Slot slot_;
};

}  // namespace resprout::runtime
