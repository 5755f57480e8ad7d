// Areas for shared slots (slot_memory.hpp), handed out without a word between those who share them.
//
// Each process of a host has a directory and some areas, in memory that all of them share
// (slot_pool_memory.hpp). Who takes part in the shared slots of a name enters that in its own
// directory, with an area of its own; the others find it there when it has come. So shared slots
// are there from the first operation on.
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

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "runtime/members.hpp"
#include "runtime/mutex.hpp"
#include "runtime/slot_memory.hpp"
#include "runtime/slot_pool_memory.hpp"

namespace resprout::runtime {

class SlotPool {
 public:
  static constexpr std::size_t members_max = SlotPoolMemory::members_max;
  static constexpr std::size_t areas_max = SlotPoolMemory::areas_max;
  static constexpr std::size_t entries_max = SlotPoolMemory::entries_max;

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

  // `memory`: of the processes of this host, `self` among them, by world rank; of nobody: this
  // process shares memory with nobody. `has_ended`: of a world rank, that it reads and writes
  // nothing of this any more; from any thread.
  SlotPool(const SlotPoolMemory& memory, int self, std::function<bool(int)> has_ended);

  // This process, which has that place, says who it is, before anybody has a pool.
  static void sign(const SlotPoolMemory& memory, std::size_t place);
  // The process does not run any more: what is in its slots stays so.
  bool has_ended(int world_rank) const;

  bool is_shared() const { return !memory_.world_ranks().empty(); }

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

  using Owner = SlotPoolMemory::Owner;
  using Entry = SlotPoolMemory::Entry;

  std::size_t place_of(int world_rank) const {
    return places_[static_cast<std::size_t>(world_rank)];
  }
  Owner& owner(int world_rank) const { return memory_.owner(place_of(world_rank)); }
  Entry& entry(int world_rank, std::size_t place) const {
    return memory_.entry(place_of(world_rank), place);
  }
  // An entry, in one of its uses.
  struct Use {
    std::size_t place;
    std::uint64_t number;
  };
  std::optional<Use> find_use(int world_rank, std::uint64_t name) const;
  void mark(int world_rank, const Use& use, Rank member) const;
  std::optional<std::size_t> take_place(bool wants_area) RESPROUT_REQUIRES(mutex_);
  void come(std::size_t place, std::uint64_t name, const MembersPtr& members)
      RESPROUT_REQUIRES(mutex_);
  void go(const Ticket& ticket, std::uint64_t name, const MembersPtr& members)
      RESPROUT_REQUIRES(mutex_);
  bool can_be_freed(std::size_t place) const RESPROUT_REQUIRES(mutex_);
  void collect() RESPROUT_REQUIRES(mutex_);

  const SlotPoolMemory memory_;
  std::vector<std::size_t> places_;  // by world rank, of this host
  int self_ = 0;
  std::function<bool(int)> has_ended_;
  Mutex mutex_;
  std::vector<Owned> owned_ RESPROUT_GUARDED_BY(mutex_);
  std::vector<std::size_t> over_ RESPROUT_GUARDED_BY(mutex_);  // places that wait for others
};

}  // namespace resprout::runtime
