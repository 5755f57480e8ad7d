// The memory of the slot pools of one host (slot_pool.hpp), which all of its processes share: who
// owns what, the entries of each, and their areas.
//
// What all processes have of a kind lies side by side: their owners, their first entries, their
// first areas. So a process that looks at something of each other one touches few pages, and has
// few pages of page tables, however much each may need.
//
// Thread rule: none of its own; what lies there is atomic, or belongs to one process.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/slot_memory.hpp"

namespace resprout::runtime {

class SlotPoolMemory {
 public:
  static constexpr std::size_t members_max = 256;
  // That a process can have in use at a time.
  static constexpr std::size_t areas_max = 64;
  static constexpr std::size_t entries_max = 1024;  // those with an area come first

  struct alignas(64) Owner {
    std::int64_t pid;
    std::uint64_t start_time;
    std::atomic<std::uint32_t> with_area;  // so many entries were ever used of those
    std::atomic<std::uint32_t> without;
    std::atomic<bool> is_full;
  };
  struct alignas(64) Entry {
    std::atomic<std::uint64_t> name;  // 0: it is free
    std::atomic<std::uint64_t> use;   // the number of this one, from 1
    std::atomic<std::uint64_t> base;  // of the stamps in the area
    std::atomic<bool> is_over;        // its owner is through with it
  };
  using Mark = std::atomic<std::uint64_t>;

  // What so many processes take, all zero at first; touched as far as it is used.
  static constexpr std::size_t bytes(std::size_t processes) {
    return processes * (sizeof(Owner) + entries_max * (sizeof(Entry) + marks_bytes(processes)) +
                        areas_max * SlotMemory::area_bytes);
  }

  // Of nobody.
  SlotPoolMemory() = default;
  // `world_ranks[i]` is the process with the i-th place. REQUIRES: `memory` is 64-byte aligned, and
  // outlives this as `world_ranks` does.
  SlotPoolMemory(std::byte* memory, std::span<const int> world_ranks)
      : world_ranks_(world_ranks),
        owners_(memory),
        entries_(owners_ + count() * sizeof(Owner)),
        marks_(entries_ + entries_max * count() * sizeof(Entry)),
        areas_(marks_ + entries_max * count() * marks_bytes(count())) {}

  std::span<const int> world_ranks() const { return world_ranks_; }

  // REQUIRES, of all that follows: `process` is a place.
  Owner& owner(std::size_t process) const { return reinterpret_cast<Owner*>(owners_)[process]; }
  Entry& entry(std::size_t process, std::size_t place) const {
    return reinterpret_cast<Entry*>(entries_)[place * count() + process];
  }
  // In that entry, by a member of what it is for.
  Mark& mark(std::size_t process, std::size_t place, std::size_t member) const {
    std::byte* const all = marks_ + (place * count() + process) * marks_bytes(count());
    return reinterpret_cast<Mark*>(all)[member];
  }
  // REQUIRES: place < areas_max.
  std::byte* area(std::size_t process, std::size_t place) const {
    return areas_ + (place * count() + process) * SlotMemory::area_bytes;
  }

 private:
  std::size_t count() const { return world_ranks_.size(); }
  static constexpr std::size_t marks_bytes(std::size_t processes) {
    return (std::min(processes, members_max) * sizeof(Mark) + 63) / 64 * 64;
  }

  std::span<const int> world_ranks_;
  std::byte* owners_ = nullptr;
  std::byte* entries_ = nullptr;
  std::byte* marks_ = nullptr;
  std::byte* areas_ = nullptr;
};

static_assert(SlotMemory::area_bytes % 64 == 0);

}  // namespace resprout::runtime
