// Small collectives of the processes of one host, through registers in memory that all share.
//
// Each member has an area that it alone writes and all read; it outlives its writer. Of an
// operation it writes one slot, once: its payload, or that it has *left*. So what comes of an
// operation is in the slots, and all who live read the same there, without a message
// (docs/protocols/lanes.md):
//  - a broadcast is done where its root's slot is full; a meeting (allreduce, barrier) where the
//    slots of all members are;
//  - it is over for everybody, and so are the lanes, if one of these slots says that its owner has
//    left, or is empty and its owner has ended.
//
// Invariants
//  1. A slot is used again only when nobody still reads it. Of a meeting there are two: who has
//     done the next one knows that all have entered that, and so have done this. Of broadcasts
//     there are as many as may lie between two meetings.
//  2. A payload is visible by the one release store of its slot's stamp, which no other operation
//     of the lanes has.
//  3. Nobody acknowledges anything: a broadcast moves one cache line, or a part of one.
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
#include <span>
#include <vector>

namespace resprout::runtime {

class Lanes {
 public:
  static constexpr std::size_t broadcast_bytes_max = 120;
  static constexpr std::size_t meeting_bytes_max = 4096;
  static constexpr std::size_t area_bytes = 49152;
  // A meeting is due when there were so many broadcasts since the last one.
  static constexpr unsigned broadcasts_max = 256;

  enum class Slot : std::uint8_t { empty, full, left };

  // `areas`: of all members, `self` included; they outlive this.
  Lanes(int self, std::vector<std::byte*> areas);

  int self() const { return self_; }
  int size() const { return static_cast<int>(areas_.size()); }
  // This process says who it is: before the first operation of anybody.
  void sign();
  // The member does not run any more: what is in its slots stays so.
  bool has_ended(int member) const;

  // The broadcast that is under way, from one `end_broadcast` to the next. At its root:
  void send(const void* payload, std::size_t bytes) {
    std::byte* const slot = broadcast_slot(self_, bytes);
    copy(slot + stamp_bytes, payload, bytes);
    show(slot, full_stamp(broadcasts_));
  }
  void leave_broadcast(std::size_t bytes) {
    show(broadcast_slot(self_, bytes), left_stamp(broadcasts_));
  }
  Slot look_at_broadcast(int root, std::size_t bytes) const {
    return state(broadcast_slot(root, bytes), broadcasts_);
  }
  // REQUIRES: its root's slot is full.
  void receive(int root, void* into, std::size_t bytes) const {
    copy(into, broadcast_slot(root, bytes) + stamp_bytes, bytes);
  }
  // True: a meeting is due, of no bytes.
  bool end_broadcast() {
    ++broadcasts_;
    return ++since_meeting_ == broadcasts_max;
  }

  // The meeting that is under way, from one `end_meeting` to the next.
  void enter(const void* payload, std::size_t bytes) {
    std::byte* const slot = meeting_slot(self_);
    if (bytes != 0) std::memcpy(slot + stamp_bytes, payload, bytes);
    show(slot, full_stamp(meetings_));
  }
  void leave_meeting() { show(meeting_slot(self_), left_stamp(meetings_)); }
  Slot look_at_meeting(int member) const { return state(meeting_slot(member), meetings_); }
  // REQUIRES: the member's slot is full.
  const std::byte* contribution(int member) const { return meeting_slot(member) + stamp_bytes; }
  void end_meeting() {
    ++meetings_;
    since_meeting_ = 0;
  }

 private:
  static constexpr std::size_t stamp_bytes = sizeof(std::uint64_t);
  static constexpr std::size_t narrow_bytes = 8;
  static constexpr std::size_t narrow_slot = 16;
  static constexpr std::size_t wide_slot = 128;
  static constexpr std::size_t meeting_slot_bytes = meeting_bytes_max + 64;
  static constexpr std::size_t meetings_at = 64;
  static constexpr std::size_t narrow_at = meetings_at + 2 * meeting_slot_bytes;
  static constexpr std::size_t wide_at = narrow_at + broadcasts_max * narrow_slot;
  static_assert(wide_at + broadcasts_max * wide_slot <= area_bytes);

  static std::uint64_t full_stamp(std::uint64_t number) { return 2 * number + 2; }
  static std::uint64_t left_stamp(std::uint64_t number) { return 2 * number + 3; }
  static void copy(void* to, const void* from, std::size_t bytes) {
    if (bytes == narrow_bytes)  // one instruction
      std::memcpy(to, from, narrow_bytes);
    else
      std::memcpy(to, from, bytes);
  }
  static void show(std::byte* at, std::uint64_t stamp) {
    std::atomic_ref(*reinterpret_cast<std::uint64_t*>(at)).store(stamp, std::memory_order_release);
  }
  static Slot state(std::byte* at, std::uint64_t number) {
    const std::uint64_t stamp =
        std::atomic_ref(*reinterpret_cast<std::uint64_t*>(at)).load(std::memory_order_acquire);
    if (stamp == full_stamp(number)) return Slot::full;
    return stamp == left_stamp(number) ? Slot::left : Slot::empty;
  }
  std::byte* area(int member) const { return areas_[static_cast<std::size_t>(member)]; }
  std::byte* meeting_slot(int member) const {
    return area(member) + meetings_at + meetings_ % 2 * meeting_slot_bytes;
  }
  std::byte* broadcast_slot(int root, std::size_t bytes) const {
    const std::uint64_t index = broadcasts_ % broadcasts_max;
    return area(root) +
           (bytes <= narrow_bytes ? narrow_at + index * narrow_slot : wide_at + index * wide_slot);
  }

  const int self_;
  const std::vector<std::byte*> areas_;
  std::uint64_t broadcasts_ = 0;  // that are over
  std::uint64_t meetings_ = 0;
  unsigned since_meeting_ = 0;  // broadcasts
};

}  // namespace resprout::runtime
