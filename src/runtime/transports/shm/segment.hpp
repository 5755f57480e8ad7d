// The shared memory of the ranks of one host and job: a bell, a board, death marks, bitmaps, slots,
// rings, arenas.
//
// It is an anonymous memory file: nothing ever stands in /dev/shm, and the kernel takes it back
// with the last process that maps it, however that one ends. Others open it through its creator's
// /proc/PID/fd until `unlink`.
//
// Layout, each part on cache lines of its own, all zero at first, pages touched only when used:
//   header   64 bytes: magic, local ranks, ring bytes, arena bytes
//   bell     doorbell.hpp
//   board    notice_board.hpp
//   marks    death_marks/death_marks.hpp
//   leavers  per rank: a byte, not 0 once it has withdrawn
//   bitmaps  per receiver: one bit per sender, set after something was written for the receiver (if
//            there are many ranks; few look into each ring)
//   slots    slot_pool_memory.hpp
//   rings    per ordered pair (sender, receiver): see ring.hpp
//   arenas   per rank: memory that its owner hands out and others read
//
// A process that must not act any more, and lives, withdraws: from then on what it writes in any
// segment is its own, and nobody else sees it.
//
// Thread rule: none of its own; created and attached at the start. `withdraw_from_all` from any
// thread, whatever others do with the memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "runtime/net/fd.hpp"

namespace resprout::runtime {

struct ShmSizes {
  std::uint32_t local_ranks = 1;
  std::uint32_t ring_bytes = 64 << 10;                 // a power of two, at least 4096
  std::uint64_t arena_bytes = std::uint64_t{1} << 30;  // address space, not memory
};

// With arenas so large that the segment fits into what this process may map and into the largest
// file that it may make, whatever the limits. They may be empty: then payloads are copied.
ShmSizes within_limits(ShmSizes sizes);

class ShmSegment {
 public:
  // Both throw std::system_error; `attach` also if what it finds is not such a segment.
  static std::unique_ptr<ShmSegment> create(const ShmSizes& sizes);
  static std::unique_ptr<ShmSegment> attach(const std::string& name);
  ~ShmSegment();
  ShmSegment(const ShmSegment&) = delete;
  ShmSegment& operator=(const ShmSegment&) = delete;

  // What others attach to, valid until `unlink`. Empty unless created here.
  std::string name() const;
  // All have mapped it: nobody else can from now on.
  void unlink();

  // Of all segments of this process: each shows it what it has been so far, and what others write
  // perhaps, and takes nothing of it. False: the system has refused that for one of them.
  static bool withdraw_from_all();
  // That the process of this rank has withdrawn from all of its segments.
  void note_withdrawn(std::uint32_t rank) const;
  bool has_withdrawn(std::uint32_t rank) const;

  const ShmSizes& sizes() const { return sizes_; }
  std::byte* bell() const;
  std::byte* board() const;
  std::byte* death_marks() const;
  std::byte* bitmap(std::uint32_t receiver) const;
  std::byte* shared_slots() const;
  std::byte* ring(std::uint32_t sender, std::uint32_t receiver) const;
  std::byte* arena(std::uint32_t rank) const;

 private:
  ShmSegment(Fd fd, const ShmSizes& sizes);
  bool withdraw() const;

  ShmSizes sizes_;
  std::byte* base_ = nullptr;
  Fd fd_;
  bool has_name_ = false;
};

}  // namespace resprout::runtime
