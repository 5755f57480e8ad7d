#include "runtime/losses.hpp"

#include <utility>

#include "runtime/clock.hpp"
#include "runtime/mutex.hpp"

namespace resprout::runtime {

Losses::Losses(int world_size)
    : lost_(std::make_unique<std::atomic<bool>[]>(at(world_size))),
      ended_(std::make_unique<std::atomic<bool>[]>(at(world_size))) {}

bool Losses::note(int rank) {
  const MutexLock guard(news_mutex_);
  if (lost_[at(rank)].exchange(true)) return false;
  news_.push_back(rank);
  latest_ns_.store(Clock::read().ticks, std::memory_order_relaxed);
  count_.fetch_add(1, std::memory_order_release);
  return true;
}

bool Losses::note_death(int rank) {
  ended_[at(rank)].store(true, std::memory_order_release);
  return note(rank);
}

std::vector<Rank> Losses::among(const Members& members) const {
  std::vector<Rank> lost;
  if (count() == 0) return lost;
  for (int i = 0; i < members.size(); ++i)
    if (is_lost(members.world_rank(rank_at(i)))) lost.push_back(rank_at(i));
  return lost;
}

bool Losses::is_latest_within(std::int64_t ns) const {
  return count() != 0 && Clock::read().ticks < latest_ns_.load(std::memory_order_relaxed) + ns;
}

std::vector<int> Losses::take_news() {
  const MutexLock guard(news_mutex_);
  return std::exchange(news_, {});
}

}  // namespace resprout::runtime
