// The slots of lanes (protocols/lanes): memory that all processes of one host share.
//
// Each member has an area that it alone writes and all read; it outlives its writer. What is to be
// written and looked at, and what follows from it, the machine says.
//
// Invariants
//  1. A payload is visible by the one release store of its slot's stamp, which no other operation
//     of the lanes has.
//  2. Nobody acknowledges anything: a broadcast moves one cache line, or a part of one.
//
// Area, on cache lines of its own, all zero at first:
//   header     64 bytes: process id, its start time
//   meetings    2 slots: stamp, then the payload
//   narrow    256 slots of 16 bytes: stamp, then up to 8 bytes of payload
//   wide      256 slots of 128 bytes: stamp, then the payload; up to 56 bytes are one line
//
// Thread rule: one thread at a time; no lock.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "protocols/lanes/slot.hpp"

namespace resprout::runtime {

class LaneMemory {
 public:
  using Slot = protocols::LaneSlot;
  using Word = protocols::LaneWord;

  static constexpr std::size_t broadcast_bytes_max = 120;
  static constexpr std::size_t meeting_bytes_max = 4096;
  static constexpr std::size_t area_bytes = 49152;
  static constexpr std::uint32_t broadcast_slots = 256;
  static constexpr std::uint32_t meeting_slots = 2;

  // `areas`: of all members, `self` included; they outlive this.
  LaneMemory(int self, std::vector<std::byte*> areas);

  int self() const { return self_; }
  int size() const { return static_cast<int>(areas_.size()); }
  // This process says who it is: before the first operation of anybody.
  void sign();
  // The member does not run any more: what is in its slots stays so.
  bool has_ended(int member) const;

  // `bytes`: of the payload, the same at all members in a broadcast; in a meeting it has no meaning
  // but for `write`.
  void write(const Slot& slot, const void* payload, std::size_t bytes) {
    std::byte* const at = place(self_, slot, bytes);
    if (bytes != 0) copy(at + stamp_bytes, payload, bytes);
    show(at, full_stamp(slot));
  }
  void leave(const Slot& slot, std::size_t bytes) {
    show(place(self_, slot, bytes), left_stamp(slot));
  }
  Word look(int member, const Slot& slot, std::size_t bytes) const {
    const std::uint64_t stamp =
        std::atomic_ref(*reinterpret_cast<std::uint64_t*>(place(member, slot, bytes)))
            .load(std::memory_order_acquire);
    if (stamp == full_stamp(slot)) return Word::full;
    return stamp == left_stamp(slot) ? Word::left : Word::empty;
  }
  // REQUIRES, and of `read`: the member's slot is full.
  const std::byte* payload(int member, const Slot& slot, std::size_t bytes) const {
    return place(member, slot, bytes) + stamp_bytes;
  }
  void read(int member, const Slot& slot, void* into, std::size_t bytes) const {
    copy(into, payload(member, slot, bytes), bytes);
  }

 private:
  static constexpr std::size_t stamp_bytes = sizeof(std::uint64_t);
  static constexpr std::size_t narrow_bytes = 8;
  static constexpr std::size_t narrow_slot = 16;
  static constexpr std::size_t wide_slot = 128;
  static constexpr std::size_t meeting_slot = meeting_bytes_max + 64;
  static constexpr std::size_t meetings_at = 64;
  static constexpr std::size_t narrow_at = meetings_at + meeting_slots * meeting_slot;
  static constexpr std::size_t wide_at = narrow_at + broadcast_slots * narrow_slot;
  static_assert(wide_at + broadcast_slots * wide_slot <= area_bytes);

  static std::uint64_t full_stamp(const Slot& slot) { return 2 * slot.number + 2; }
  static std::uint64_t left_stamp(const Slot& slot) { return 2 * slot.number + 3; }
  static void copy(void* to, const void* from, std::size_t bytes) {
    if (bytes == narrow_bytes)  // one instruction
      std::memcpy(to, from, narrow_bytes);
    else
      std::memcpy(to, from, bytes);
  }
  static void show(std::byte* at, std::uint64_t stamp) {
    std::atomic_ref(*reinterpret_cast<std::uint64_t*>(at)).store(stamp, std::memory_order_release);
  }
  std::byte* place(int member, const Slot& slot, std::size_t bytes) const {
    std::byte* const area = areas_[static_cast<std::size_t>(member)];
    if (slot.kind == protocols::LaneKind::meeting)
      return area + meetings_at + slot.index * meeting_slot;
    return area + (bytes <= narrow_bytes ? narrow_at + slot.index * narrow_slot
                                         : wide_at + slot.index * wide_slot);
  }

  const int self_;
  const std::vector<std::byte*> areas_;
};

}  // namespace resprout::runtime
