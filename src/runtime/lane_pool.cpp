#include "runtime/lane_pool.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "core/invariant.hpp"
#include "runtime/pulses/process.hpp"

namespace resprout::runtime {

static_assert(std::atomic<bool>::is_always_lock_free);
static_assert(sizeof(LanePool::Directory) % 64 == 0 && LaneMemory::area_bytes % 64 == 0);

LanePool::LanePool(std::vector<std::byte*> memory, int self, std::function<bool(int)> has_ended)
    : memory_(std::move(memory)),
      self_(self),
      has_ended_(std::move(has_ended)),
      owned_(entries_max) {}

void LanePool::sign(std::byte* memory) {
  auto& own = *reinterpret_cast<Directory*>(memory);
  const auto status = process_status(getpid());
  own.pid = getpid();
  own.start_time = status ? status->start_time : 0;
}

// The event of a pidfd is the end of all its threads; the process that /proc shows as a zombie may
// still have some.
bool LanePool::has_ended(int world_rank) const {
  const Directory& theirs = directory(world_rank);
  const auto pid = static_cast<pid_t>(theirs.pid);
  const Fd process = open_process(pid);
  const auto status = process_status(pid);
  if (!status || status->start_time != theirs.start_time) return true;
  if (!process.is_open()) return status->has_ended();
  pollfd entry{process.get(), POLLIN, 0};
  return poll(&entry, 1, 0) == 1;
}

LanePool::Ticket LanePool::enter(std::uint64_t name, const Members& members, bool wants_area) {
  RESPROUT_INVARIANT(name != 0 && members.world_ranks.size() <= members_max);
  const std::lock_guard guard(mutex_);
  std::atomic<bool>& is_full = directory(self_).is_full;
  if (is_full.load()) return {};
  collect();
  const auto place = take_place(wants_area);
  if (!place) {
    is_full.store(true);
    return {};
  }
  publish(*place, name, members);
  if (*place >= areas_max) return {place, std::nullopt};
  return {place, LaneArea{area(self_, *place), owned_[*place].base}};
}

LanePool::Found LanePool::find(int world_rank, std::uint64_t name) const {
  const bool is_full = directory(world_rank).is_full.load();
  const auto place = find_place(world_rank, name);
  if (!place) return {is_full, std::nullopt};
  if (*place >= areas_max) return {true, std::nullopt};
  const Entry& entry = directory(world_rank).entries[*place];
  return {true, LaneArea{area(world_rank, *place), entry.base.load(std::memory_order_relaxed)}};
}

void LanePool::leave(const Ticket& ticket, std::uint64_t name, const Members& members,
                     std::uint64_t stamps) {
  const std::lock_guard guard(mutex_);
  if (ticket.place) owned_[*ticket.place].base += stamps;
  end(ticket, name, members);
}

void LanePool::stay_away(std::uint64_t name, const Members& members) {
  const std::lock_guard guard(mutex_);
  collect();
  const auto place = take_place(false);
  if (place) publish(*place, name, members);
  end({place, std::nullopt}, name, members);
}

std::optional<std::size_t> LanePool::find_place(int world_rank, std::uint64_t name) const {
  const Directory& theirs = directory(world_rank);
  const auto look = [&](std::size_t first, std::size_t count) -> std::optional<std::size_t> {
    for (std::size_t place = first; place < first + count; ++place)
      if (theirs.entries[place].name.load() == name) return place;
    return std::nullopt;
  };
  if (const auto place = look(0, theirs.with_area.load())) return place;
  return look(areas_max, theirs.without.load());
}

// The lowest that is free, whose memory was used before.
std::optional<std::size_t> LanePool::take_place(bool wants_area) {
  const auto is_free = [](const Owned& owned) { return !owned.is_used; };
  const auto first = owned_.begin() + (wants_area ? 0 : areas_max);
  const auto found = std::find_if(first, owned_.end(), is_free);
  if (found == owned_.end()) return std::nullopt;
  found->is_used = true;
  return static_cast<std::size_t>(found - owned_.begin());
}

void LanePool::publish(std::size_t place, std::uint64_t name, const Members& members) {
  Directory& own = directory(self_);
  Entry& entry = own.entries[place];
  owned_[place].members = members;
  for (auto& is_through : entry.is_through) is_through.store(false, std::memory_order_relaxed);
  entry.is_over.store(false, std::memory_order_relaxed);
  entry.base.store(owned_[place].base, std::memory_order_relaxed);
  auto& used = place < areas_max ? own.with_area : own.without;
  const auto count = static_cast<std::uint32_t>(place < areas_max ? place : place - areas_max) + 1;
  if (used.load() < count) used.store(count);
  entry.name.store(name);
  for (std::size_t member = 0; member < members.world_ranks.size(); ++member) {
    const int world_rank = members.world_ranks[member];
    if (world_rank == self_) continue;
    const auto theirs = find_place(world_rank, name);
    if (theirs && directory(world_rank).entries[*theirs].is_over.load())
      entry.is_through[member].store(true);
  }
}

void LanePool::end(const Ticket& ticket, std::uint64_t name, const Members& members) {
  if (ticket.place) {
    directory(self_).entries[*ticket.place].is_over.store(true);
    over_.push_back(*ticket.place);
  }
  for (const int world_rank : members.world_ranks) {
    if (world_rank == self_) continue;
    if (const auto theirs = find_place(world_rank, name))
      directory(world_rank)
          .entries[*theirs]
          .is_through[static_cast<std::size_t>(members.self)]
          .store(true);
  }
}

bool LanePool::can_be_freed(std::size_t place) const {
  const Entry& entry = directory(self_).entries[place];
  const std::vector<int>& world_ranks = owned_[place].members.world_ranks;
  for (std::size_t member = 0; member < world_ranks.size(); ++member)
    if (world_ranks[member] != self_ && !entry.is_through[member].load() &&
        !has_ended_(world_ranks[member]))
      return false;
  return true;
}

void LanePool::collect() {
  std::erase_if(over_, [&](std::size_t place) {
    if (!can_be_freed(place)) return false;
    directory(self_).entries[place].name.store(0);
    owned_[place].is_used = false;
    return true;
  });
}

}  // namespace resprout::runtime
