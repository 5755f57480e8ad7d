#include "runtime/slot_pool.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "core/invariant.hpp"
#include "core/rank.hpp"
#include "protocols/shared_slots/claim.hpp"
#include "runtime/death_marks/process.hpp"
#include "runtime/mutex.hpp"

namespace resprout::runtime {

using protocols::SlotClaim;
using Step = SlotClaim::Step;

static_assert(std::atomic<std::uint64_t>::is_always_lock_free);
static_assert(std::atomic<bool>::is_always_lock_free);

SlotPool::SlotPool(const SlotPoolMemory& memory, int self, std::function<bool(int)> has_ended)
    : memory_(memory), self_(self), has_ended_(std::move(has_ended)), owned_(entries_max) {
  std::size_t place = 0;
  for (const int rank : memory_.world_ranks()) {
    places_.resize(std::max(places_.size(), static_cast<std::size_t>(rank) + 1));
    places_[static_cast<std::size_t>(rank)] = place++;
  }
}

void SlotPool::sign(const SlotPoolMemory& memory, std::size_t place) {
  Owner& own = memory.owner(place);
  const auto status = process_status(getpid());
  own.pid = getpid();
  own.start_time = status ? status->start_time : 0;
}

// The event of a pidfd is the end of all its threads; the process that /proc shows as a zombie may
// still have some.
bool SlotPool::has_ended(int world_rank) const {
  const Owner& theirs = owner(world_rank);
  const auto pid = static_cast<pid_t>(theirs.pid);
  const Fd process = open_process(pid);
  const auto status = process_status(pid);
  if (!status || status->start_time != theirs.start_time) return true;
  if (!process.is_open()) return status->has_ended();
  pollfd entry{process.get(), POLLIN, 0};
  return poll(&entry, 1, 0) == 1;
}

SlotPool::Ticket SlotPool::enter(std::uint64_t name, const MembersPtr& members, bool wants_area) {
  RESPROUT_INVARIANT(name != 0 && static_cast<std::size_t>(members->size()) <= members_max);
  const MutexLock guard(mutex_);
  std::atomic<bool>& is_full = owner(self_).is_full;
  if (is_full.load()) return {};
  collect();
  const auto place = take_place(wants_area);
  if (!place) {
    is_full.store(true);
    return {};
  }
  come(*place, name, members);
  if (*place >= areas_max) return {place, std::nullopt};
  return {place, SlotArea{memory_.area(place_of(self_), *place), owned_[*place].base}};
}

SlotPool::Found SlotPool::find(int world_rank, std::uint64_t name) const {
  const bool is_full = owner(world_rank).is_full.load();
  const auto use = find_use(world_rank, name);
  if (!use) return {is_full, std::nullopt};
  if (use->place >= areas_max) return {true, std::nullopt};
  std::byte* const area = memory_.area(place_of(world_rank), use->place);
  return {true, SlotArea{area, entry(world_rank, use->place).base.load()}};
}

void SlotPool::leave(const Ticket& ticket, std::uint64_t name, const MembersPtr& members,
                     std::uint64_t stamps) {
  const MutexLock guard(mutex_);
  if (ticket.place) owned_[*ticket.place].base += stamps;
  go(ticket, name, members);
}

void SlotPool::stay_away(std::uint64_t name, const MembersPtr& members) {
  const MutexLock guard(mutex_);
  collect();
  const auto place = take_place(false);
  if (place) come(*place, name, members);
  go({place, std::nullopt}, name, members);
}

// Its owner may free an entry while this looks at it: the number is of this name if that still
// stands there.
std::optional<SlotPool::Use> SlotPool::find_use(int world_rank, std::uint64_t name) const {
  const Owner& theirs = owner(world_rank);
  const auto look = [&](std::size_t first, std::size_t count) -> std::optional<Use> {
    for (std::size_t place = first; place < first + count; ++place) {
      const Entry& there = entry(world_rank, place);
      if (there.name.load() != name) continue;
      const std::uint64_t number = there.use.load();
      if (there.name.load() == name) return Use{place, number};
    }
    return std::nullopt;
  };
  if (const auto use = look(0, theirs.with_area.load())) return use;
  return look(areas_max, theirs.without.load());
}

// One of an earlier use changes nothing.
void SlotPool::mark(int world_rank, const Use& use, Rank member) const {
  SlotPoolMemory::Mark& own =
      memory_.mark(place_of(world_rank), use.place, static_cast<std::size_t>(index(member)));
  std::uint64_t there = own.load();
  while (there < use.number && !own.compare_exchange_weak(there, use.number)) {
  }
}

// The lowest that is free, whose memory was used before.
std::optional<std::size_t> SlotPool::take_place(bool wants_area) {
  const auto is_free = [](const Owned& owned) { return !owned.is_used; };
  const auto first = owned_.begin() + (wants_area ? 0 : areas_max);
  const auto found = std::find_if(first, owned_.end(), is_free);
  if (found == owned_.end()) return std::nullopt;
  found->is_used = true;
  return static_cast<std::size_t>(found - owned_.begin());
}

void SlotPool::come(std::size_t place, std::uint64_t name, const MembersPtr& members) {
  Owner& own = owner(self_);
  Entry& mine = entry(self_, place);
  const auto enter = [&]() RESPROUT_REQUIRES(mutex_) {
    owned_[place].members = members;
    mine.is_over.store(false);
    mine.base.store(owned_[place].base);
    mine.use.store(mine.use.load() + 1);
    auto& used = place < areas_max ? own.with_area : own.without;
    const auto count =
        static_cast<std::uint32_t>(place < areas_max ? place : place - areas_max) + 1;
    if (used.load() < count) used.store(count);
    mine.name.store(name);
  };
  const auto is_over = [&](int world_rank) {
    const auto theirs = find_use(world_rank, name);
    return theirs && entry(world_rank, theirs->place).is_over.load();
  };
  SlotClaim claim(members->size(), members->self());
  while (claim.step() != Step::none) {
    bool is_so = false;
    if (claim.step() == Step::enter)
      enter();
    else if (claim.step() == Step::look)
      is_so = is_over(members->world_rank(claim.other()));
    else
      mark(self_, {place, mine.use.load()}, claim.other());
    claim.handle(is_so);
  }
}

void SlotPool::go(const Ticket& ticket, std::uint64_t name, const MembersPtr& members) {
  SlotClaim claim(members->size(), members->self(), Step::say_over);
  std::optional<Use> found;
  while (claim.step() != Step::done) {
    const int other = members->world_rank(claim.other());
    if (claim.step() == Step::say_over) {
      if (ticket.place) entry(self_, *ticket.place).is_over.store(true);
    } else if (claim.step() == Step::find) {
      found = find_use(other, name);
    } else {
      mark(other, *found, members->self());
    }
    claim.handle(claim.step() == Step::find && found);
  }
  if (ticket.place) over_.push_back(*ticket.place);
}

bool SlotPool::can_be_freed(std::size_t place) const {
  const std::uint64_t use = entry(self_, place).use.load();
  const Members& members = *owned_[place].members;
  for (int i = 0; i < members.size(); ++i) {
    const std::uint64_t mark =
        memory_.mark(place_of(self_), place, static_cast<std::size_t>(i)).load();
    if (rank_at(i) != members.self() && mark != use && !has_ended_(members.world_rank(rank_at(i))))
      return false;
  }
  return true;
}

void SlotPool::collect() {
  std::erase_if(over_, [&](std::size_t place) RESPROUT_REQUIRES(mutex_) {
    if (!can_be_freed(place)) return false;
    entry(self_, place).name.store(0);
    owned_[place].is_used = false;
    return true;
  });
}

}  // namespace resprout::runtime
