// The memory of shared slots (protocols/shared_slots): memory that all processes of one host share.
//
// Each member has an area that it alone writes and all read, but for the records that begin there;
// it outlives its writer. What is to be written and looked at, and what follows from it, the
// machine says.
//
// Invariants
//  1. A payload is visible by the one release store of its slot's stamp, which no other operation
//     of the shared slots has.
//  2. Nobody acknowledges anything: a broadcast moves one cache line, or a part of one.
//  3. The stamp says how many bytes the payload has: members may differ in that by a mistake of the
//     program, and nobody reads more than it wants.
//
// Area, on cache lines of its own (slot_pool.hpp hands it out), without stamps above its base:
//   rendezvous    2 slots: stamp, then the payload
//   narrow    256 slots of 16 bytes: stamp, then up to 8 bytes of payload
//   wide      256 slots of 128 bytes: stamp, then the payload; up to 56 bytes are one line
//   records       2 slots for the group that begins with the member, and 2 for all
//                 (slot_records.hpp), as those of rendezvous
//   prefixes    256 slots as the wide ones, for records of those up to the member
//
// Thread rule: one thread at a time; no lock.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "protocols/shared_slots/slot.hpp"

namespace resprout::runtime {

// Of one member. `base`: its stamps begin there.
struct SlotArea {
  std::byte* memory;
  std::uint64_t base;
};

class SlotMemory {
 public:
  using Slot = protocols::SharedSlot;
  using Word = protocols::SlotWord;

  static constexpr std::size_t narrow_bytes = 8;
  static constexpr std::size_t broadcast_bytes_max = 120;
  static constexpr std::size_t rendezvous_bytes_max = 4096;
  static constexpr std::size_t area_bytes = 98304;
  static constexpr std::uint32_t broadcast_slots = 256;
  static constexpr std::uint32_t rendezvous_slots = 2;

  // Stamps of an operation: of who takes part, with so many bytes, and the last of who leaves.
  static constexpr std::uint64_t stamps_each = 8192;
  static_assert(rendezvous_bytes_max < stamps_each - 1);

  // Nobody's area is known yet: all slots are empty.
  SlotMemory(int self, int members);

  int self() const { return self_; }
  int size() const { return static_cast<int>(areas_.size()); }
  // `area` outlives this.
  void know(int member, const SlotArea& area) { areas_[static_cast<std::size_t>(member)] = area; }
  bool knows(int member) const {
    return areas_[static_cast<std::size_t>(member)].memory != nothing();
  }

  // `bytes`: of the payload. In a broadcast they say where the slot is: what has more or less than
  // `narrow_bytes` is elsewhere. In a rendezvous they have no meaning but for `write`.
  // REQUIRES, and of `leave`: the own area is known.
  void write(const Slot& slot, const void* payload, std::size_t bytes) {
    std::byte* const at = place(self_, slot, bytes);
    if (bytes != 0) copy(at + payload_at(slot), payload, bytes);
    show(at, full_stamp(self_, slot) + bytes);
  }
  void leave(const Slot& slot, std::size_t bytes) {
    show(place(self_, slot, bytes), full_stamp(self_, slot) + left_behind);
  }
  Word look(int member, const Slot& slot, std::size_t bytes) const {
    const std::uint64_t behind = behind_full(member, slot, bytes);
    if (behind <= rendezvous_bytes_max) return Word::full;
    return behind == left_behind ? Word::left : Word::empty;
  }
  // How many bytes the member has written. REQUIRES, and of what follows: its slot is full.
  std::size_t bytes_of(int member, const Slot& slot, std::size_t bytes) const {
    return behind_full(member, slot, bytes);
  }
  // Of a rendezvous aligned like the elements of any type.
  const std::byte* payload(int member, const Slot& slot, std::size_t bytes) const {
    return place(member, slot, bytes) + payload_at(slot);
  }
  void read(int member, const Slot& slot, void* into, std::size_t bytes) const {
    copy(into, payload(member, slot, bytes), bytes);
  }

  // The stamp of a slot that is full of no bytes.
  std::uint64_t full_stamp(int member, const Slot& slot) const {
    return areas_[static_cast<std::size_t>(member)].base + stamps_each * (slot.number + 1);
  }
  // Where the record is of a group that begins with the member, or of all; its stamp is as that of
  // the member's slot.
  std::byte* record(int member, bool is_of_all, const Slot& slot) const {
    const std::size_t level = is_of_all ? rendezvous_slots : 0;
    return areas_[static_cast<std::size_t>(member)].memory + records_at +
           (level + slot.index) * rendezvous_slot;
  }
  // The same of those up to the member, of a slot for broadcasts; its payload is as in such a slot.
  std::byte* prefix(int member, const Slot& slot) const {
    return areas_[static_cast<std::size_t>(member)].memory + prefixes_at + slot.index * wide_slot;
  }

 private:
  static constexpr std::size_t stamp_bytes = sizeof(std::uint64_t);
  static constexpr std::size_t rendezvous_at = alignof(std::max_align_t);
  static constexpr std::size_t narrow_slot = 16;
  static constexpr std::size_t wide_slot = 128;
  static constexpr std::size_t rendezvous_slot = rendezvous_bytes_max + 64;
  static constexpr std::size_t narrow_at = rendezvous_slots * rendezvous_slot;
  static constexpr std::size_t wide_at = narrow_at + broadcast_slots * narrow_slot;
  static constexpr std::size_t records_at = wide_at + broadcast_slots * wide_slot;
  static constexpr std::size_t prefixes_at = records_at + 2 * rendezvous_slots * rendezvous_slot;
  static_assert(prefixes_at + broadcast_slots * wide_slot <= area_bytes);

  static constexpr std::uint64_t left_behind = stamps_each - 1;

  // An area whose slots are empty for ever.
  static std::byte* nothing();
  static std::size_t payload_at(const Slot& slot) {
    return slot.kind == protocols::SlotKind::rendezvous ? rendezvous_at : stamp_bytes;
  }
  // How far behind that the slot's stamp is; a number far too high if it is before it.
  std::uint64_t behind_full(int member, const Slot& slot, std::size_t bytes) const {
    return std::atomic_ref(*reinterpret_cast<std::uint64_t*>(place(member, slot, bytes)))
               .load(std::memory_order_acquire) -
           full_stamp(member, slot);
  }
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
    std::byte* const area = areas_[static_cast<std::size_t>(member)].memory;
    if (slot.kind == protocols::SlotKind::rendezvous) return area + slot.index * rendezvous_slot;
    return area + (bytes <= narrow_bytes ? narrow_at + slot.index * narrow_slot
                                         : wide_at + slot.index * wide_slot);
  }

  const int self_;
  std::vector<SlotArea> areas_;
};

}  // namespace resprout::runtime
