// See chooser.hpp.
#include "sim/swarm/chooser.hpp"

#include <algorithm>

namespace resprout::sim {

FaultPlan draw_fault_plan(Random& random, int procs) {
  FaultPlan plan;
  plan.prefers_low_ranks = random.chance(1, 3);
  plan.mischief.loses_messages = random.chance(1, 3);
  plan.mischief.suspects_the_living = random.chance(1, 3);
  const auto victims_max = static_cast<std::uint64_t>(procs - 1);
  if (random.chance(1, 8) || victims_max == 0) return plan;
  // Mostly few, sometimes nearly all.
  const std::uint64_t some = std::min<std::uint64_t>(victims_max, random.chance(1, 6) ? 64 : 4);
  if (random.chance(1, 3)) plan.dead_at_start = static_cast<int>(random.below(some + 1));
  if (random.chance(4, 5))
    plan.mischief.crashes =
        static_cast<int>(random.below(std::min(some, victims_max - plan.dead_at_start) + 1));
  return plan;
}

Chooser::Chooser(Random& random, bool prefers_low_ranks)
    : random_(&random), prefers_low_ranks_(prefers_low_ranks) {
  for (auto& weight : weights_) weight = std::uint64_t{1} << (2 * random.below(5) + 4);
  weights_[fault] = std::uint64_t{1} << random.below(8);
  if (random.chance(3, 4)) salt_ = random.next() | 1;
}

Chooser::Category Chooser::category_of(const Action& action, std::uint64_t doomed) {
  const auto is_doomed = [doomed](std::uint8_t rank) { return (doomed >> rank & 1) != 0; };
  switch (action.kind) {
    case ActionKind::enter:
      return enter;
    case ActionKind::deliver:
      return deliver;
    case ActionKind::send:
      return send;
    case ActionKind::wake:
      return wake;
    case ActionKind::suspect:
      return is_doomed(action.b) ? suspect : fault;
    case ActionKind::crash:
      return is_doomed(action.a) ? fence : fault;
    case ActionKind::lose:
    case ActionKind::interrupt:  // no world has both
      return lose;
    case ActionKind::corrupt:
      return fault;
  }
  return categories;
}

// In most runs each process, each channel and each suspicion has a pace of its own, so that some
// hear of something long after others have acted on it.
bool Chooser::is_put_off(const Action& action) {
  if (salt_ == 0) return false;
  const auto pace = [this](std::uint64_t what, std::uint64_t a, std::uint64_t b) {
    std::uint64_t state = salt_ + (what << 16 | a << 8 | b);
    return splitmix64(state) % 8;
  };
  const auto kind = static_cast<std::uint64_t>(action.kind);
  const std::uint64_t of_pair = pace(kind, action.a, action.b);
  const std::uint64_t of_process =
      pace(64, action.kind == ActionKind::deliver ? action.b : action.a, 0);
  const std::uint64_t slowness = (of_pair > 5 ? 3 * (of_pair - 5) : 0) + (of_process > 6 ? 4 : 0);
  return !random_->chance(1, std::uint64_t{1} << slowness);
}

Action Chooser::choose(const std::vector<Action>& actions, std::uint64_t doomed) {
  for (auto& bucket : buckets_) bucket.clear();
  for (const Action& action : actions) buckets_[category_of(action, doomed)].push_back(action);
  std::uint64_t total = 0;
  for (int i = 0; i < categories; ++i)
    if (!buckets_[i].empty()) total += weights_[i];
  for (int tries = 64;; --tries) {
    std::uint64_t at = random_->below(total);
    int i = 0;
    while (buckets_[i].empty() || at >= weights_[i]) {
      if (!buckets_[i].empty()) at -= weights_[i];
      ++i;
    }
    const auto& bucket = buckets_[i];
    // Actions are listed by rank, so the first fault hits the lowest process that is left.
    const bool is_lowest = i == fault && prefers_low_ranks_ && random_->chance(3, 4);
    const Action& action = bucket[is_lowest ? 0 : random_->below(bucket.size())];
    if (tries == 0 || !is_put_off(action)) return action;
  }
}

}  // namespace resprout::sim
