#include "sim/exact/early_slots.hpp"

namespace resprout::sim {

// In slot t a left side is open beyond a neighbor at (t-h+1)/2, a right one beyond (t-h)/2 + 1. Who
// has both open takes turns, left in even slots; who has one open sends that way in each slot.
EarlySlots::EarlySlots(std::int32_t reaction)
    : reaction_(reaction), reach_(reaction / 2 + 1), end_(2 * reach_ - 1 + reaction) {
  if (reaction > 40) {
    is_usable_ = false;
    return;
  }
  for (std::int32_t slot = reaction_; slot < end_; ++slot) {
    for (std::int32_t left = 1; left < reach_ && left_closed(left) <= slot; ++left) {
      const std::int32_t closed = left_closed(left);
      add_from_left(slot, closed / 2 + slot - closed + 1, left, true);
    }
    if (slot % 2 == 1) add_from_left(slot, slot / 2 + 1, (slot - reaction_ + 1) / 2, false);
    for (std::int32_t right = 1; right <= reach_ && right_closed(right) <= slot; ++right) {
      const std::int32_t closed = right_closed(right);
      add_from_right(slot, (closed + 1) / 2 + slot - closed + 1, right, true);
    }
    if (slot % 2 == 0) add_from_right(slot, slot / 2 + 1, (slot - reaction_) / 2 + 1, false);
  }
  if (window_ > 64) is_usable_ = false;
  if (!is_usable_) return;
  std::stable_sort(patterns_.begin(), patterns_.end(), [](const Pattern& a, const Pattern& b) {
    if (a.slot != b.slot) return a.slot < b.slot;
    if (a.from != b.from) return a.from == Side::left;
    return a.from == Side::left ? a.distance > b.distance : a.distance < b.distance;
  });
  tabulate();
}

// A sender at `distance` on the left, whose right side is open, and whose left neighbor is at
// `left` (exactly), or beyond that.
void EarlySlots::add_from_left(std::int32_t slot, std::int32_t distance, std::int32_t left,
                               bool is_exact) {
  add(Side::left, slot, distance, (slot - reaction_) / 2 + 1, left, is_exact);
}

void EarlySlots::add_from_right(std::int32_t slot, std::int32_t distance, std::int32_t right,
                                bool is_exact) {
  add(Side::right, slot, distance, (slot - reaction_ + 1) / 2, right, is_exact);
}

// The sender has nobody colored within `free_towards` places towards the receiver, and behind it
// the nearest at `behind`, or beyond that.
void EarlySlots::add(Side from, std::int32_t slot, std::int32_t distance, std::int32_t free_towards,
                     std::int32_t behind, bool is_exact) {
  const std::int32_t farthest = distance + behind;
  window_ = std::max(window_, farthest);
  if (farthest > 64) return;
  Pattern pattern{0, 0, slot, distance, from};
  const auto place = [from](std::int32_t at) {  // 1: beside the receiver
    return std::uint64_t{1} << (from == Side::left ? 64 - at : at - 1);
  };
  for (std::int32_t at = distance - free_towards; at <= farthest; ++at) pattern.mask |= place(at);
  pattern.value = place(distance);
  if (is_exact) pattern.value |= place(farthest);
  patterns_.push_back(pattern);
}

std::vector<std::uint64_t> EarlySlots::matches(Side from) const {
  std::vector<std::uint64_t> matches;
  for (std::uint64_t colors = 0; colors < std::uint64_t{1} << window_; ++colors) {
    const std::uint64_t word = from == Side::left ? colors << (64 - window_) : colors;
    std::uint64_t found = 0;
    for (std::size_t i = 0; i < patterns_.size(); ++i)
      if (patterns_[i].from == from && (word & patterns_[i].mask) == patterns_[i].value)
        found |= std::uint64_t{1} << i;
    matches.push_back(found);
  }
  return matches;
}

// How many arrive in each slot (four bits each), for all sets of patterns that can match.
std::vector<std::uint64_t> EarlySlots::arrival_sets(std::vector<std::uint64_t> matches) const {
  std::sort(matches.begin(), matches.end());
  matches.erase(std::unique(matches.begin(), matches.end()), matches.end());
  for (std::uint64_t& set : matches) {
    std::uint64_t arrivals = 0;
    for (std::uint64_t left = set; left != 0; left &= left - 1) {
      const Pattern& pattern = patterns_[static_cast<std::size_t>(std::countr_zero(left))];
      arrivals += std::uint64_t{1} << 4 * (pattern.slot - reaction_);
    }
    set = arrivals;
  }
  return matches;
}

// Tries out all colors around a process if they are few.
void EarlySlots::tabulate() {
  if (window_ > 12 || patterns_.size() > 64 || end_ - reaction_ > 16) {
    delay_max_ = static_cast<std::int32_t>(patterns_.size());
    return;
  }
  left_matches_ = matches(Side::left);
  right_matches_ = matches(Side::right);
  const std::vector<std::uint64_t> rights = arrival_sets(right_matches_);
  for (const std::uint64_t left : arrival_sets(left_matches_))
    for (const std::uint64_t right : rights) {
      std::int32_t waiting = 0;
      for (std::int32_t slot = 0; slot < end_ - reaction_; ++slot) {
        waiting += static_cast<std::int32_t>((left >> 4 * slot & 15) + (right >> 4 * slot & 15));
        waiting = std::max(waiting - 1, 0);
        delay_max_ = std::max(delay_max_, waiting);
      }
    }
}

}  // namespace resprout::sim
