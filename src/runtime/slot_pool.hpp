// Areas for shared slots (slot_memory.hpp), handed out without a word between those who share them.
//
// Each process of a host has a directory and some areas, in memory that all of them share. Who
// takes part in the shared slots of a name enters that in its own directory, with an area of its
// own; the others find it there when it has come. So shared slots are there from the first
// operation on.
//
// An area is used again when nobody can look at it any more: protocols/shared_slots/claim.hpp says
// how that comes to be known.
//
// Invariants
//  1. Its owner alone enters a name, and takes it out.
//  2. What was found stays until the process that found it is through with that name, or has ended.
//  3. Nothing of an earlier name can be taken for something of a later one: stamps only grow.
//  4. Who has no area for a name says so, by an entry without one. When these are used up, too, all
//     names that are not in its directory by then have none, for good.
//
// Memory: touched as far as it is used. Thread rule: all from any thread; `enter` and `leave` take
// a lock of this process.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "runtime/members.hpp"
#include "runtime/mutex.hpp"
#include "runtime/slot_memory.hpp"

namespace resprout::runtime {

class SlotPool {
 public:
  static constexpr std::size_t members_max = 64;
  // That a process can have in use at a time.
  static constexpr std::size_t areas_max = 64;
  static constexpr std::size_t entries_max = 1024;  // those with an area come first

  struct alignas(64) Entry {
    std::atomic<std::uint64_t> name;                            // 0: it is free
    std::atomic<std::uint64_t> use;                             // the number of this one, from 1
    std::atomic<std::uint64_t> base;                            // of the stamps in the area
    std::atomic<bool> is_over;                                  // its owner is through with it
    std::array<std::atomic<std::uint64_t>, members_max> marks;  // by member: it is, in that use
  };
  struct Directory {
    std::int64_t pid;
    std::uint64_t start_time;
    std::atomic<std::uint32_t> with_area;  // so many entries were ever used of those
    std::atomic<std::uint32_t> without;
    std::atomic<bool> is_full;
    std::array<Entry, entries_max> entries;
  };
  // What each process needs, all zero at first.
  static constexpr std::size_t bytes_each = sizeof(Directory) + areas_max * SlotMemory::area_bytes;

  // Who takes part in shared slots: all of one host, at most members_max.
  using MembersPtr = std::shared_ptr<const Members>;
  // An own entry.
  struct Ticket {
    std::optional<std::size_t> place;  // none: there was no room
    std::optional<SlotArea> area;
  };
  struct Found {
    bool is_there = false;         // with or without an area
    std::optional<SlotArea> area;  // none, though it is there: all its slots say `left`
  };

  // `memory`: by world rank, 64-byte aligned; null: of another host; empty: this process shares
  // memory with nobody. It outlives this. `has_ended`: of a world rank, that it reads and writes
  // nothing of this any more; from any thread.
  SlotPool(std::vector<std::byte*> memory, int self, std::function<bool(int)> has_ended);

  // This process says who it is, before anybody has a pool.
  static void sign(std::byte* memory);
  // The process does not run any more: what is in its slots stays so.
  bool has_ended(int world_rank) const;

  bool is_shared() const { return !memory_.empty(); }

  // REQUIRES, of all that follows: is_shared(); a name, not 0, is entered once and left once, and
  // means the same members to all of them.
  Ticket enter(std::uint64_t name, const MembersPtr& members, bool wants_area);
  Found find(int world_rank, std::uint64_t name) const;
  // `stamps`: so many may have been used in the area.
  void leave(const Ticket& ticket, std::uint64_t name, const MembersPtr& members,
             std::uint64_t stamps);
  // This member never took part, and never will, though others may: nobody waits for it to be
  // through.
  void stay_away(std::uint64_t name, const MembersPtr& members);

 private:
  struct Owned {
    std::uint64_t base = 0;
    bool is_used = false;
    MembersPtr members;
  };

  Directory& directory(int world_rank) const {
    return *reinterpret_cast<Directory*>(memory_[static_cast<std::size_t>(world_rank)]);
  }
  std::byte* area(int world_rank, std::size_t place) const {
    return memory_[static_cast<std::size_t>(world_rank)] + sizeof(Directory) +
           place * SlotMemory::area_bytes;
  }
  // An entry, in one of its uses.
  struct Use {
    std::size_t place;
    std::uint64_t number;
  };
  std::optional<Use> find_use(int world_rank, std::uint64_t name) const;
  static void mark(Entry& entry, Rank member, std::uint64_t use);
  std::optional<std::size_t> take_place(bool wants_area) RESPROUT_REQUIRES(mutex_);
  void come(std::size_t place, std::uint64_t name, const MembersPtr& members)
      RESPROUT_REQUIRES(mutex_);
  void go(const Ticket& ticket, std::uint64_t name, const MembersPtr& members)
      RESPROUT_REQUIRES(mutex_);
  bool can_be_freed(std::size_t place) const RESPROUT_REQUIRES(mutex_);
  void collect() RESPROUT_REQUIRES(mutex_);

  std::vector<std::byte*> memory_;
  int self_ = 0;
  std::function<bool(int)> has_ended_;
  Mutex mutex_;
  std::vector<Owned> owned_ RESPROUT_GUARDED_BY(mutex_);
  std::vector<std::size_t> over_ RESPROUT_GUARDED_BY(mutex_);  // places that wait for others
};

}  // namespace resprout::runtime
