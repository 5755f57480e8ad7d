// Checked correction in the slots in which what a process sends follows from its place alone.
//
// With h the reaction time: what was sent in slots 0 .. h-1 is known from slot h on, and tells each
// process how far its nearest colored neighbors are, if it is at most `reach` = h/2 + 1:
//   right neighbor at distance b: heard in slot 2b-2, so the right side is closed from 2b-2+h on
//   left neighbor at distance a:  heard in slot 2a-1, so the left side is closed from 2a-1+h on
// Nothing delays these messages: those of slots h and h+1 that count are first at their receivers
// (the left one: if no sender is beyond the end of the ring). A process that hears nobody that near
// has a side open until slot `end` = 2*reach-1+h at least. So all sends before `end` are functions
// of (a, b, slot), and all that arrives at a process follows from the colors around it: a list of
// patterns, which two words are compared with.
//
// Thread rule: constant once made.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "sim/exact/tree_coloring.hpp"
#include "topology/ring.hpp"

namespace resprout::sim {

class EarlySlots {
 public:
  enum class Side : std::uint8_t { left, right };

  // REQUIRES: reaction >= 2.
  explicit EarlySlots(std::int32_t reaction);

  // Whether the patterns fit into a word; if not, this must not be used.
  bool is_usable() const { return is_usable_; }

  std::int32_t reach() const { return reach_; }
  std::int32_t end() const { return end_; }
  // No message of these slots waits longer, and no process has so much waiting after them.
  std::int32_t delay_max() const { return delay_max_; }

  // Whether somebody who sends to it may be beyond the end of the ring.
  bool is_near_end(std::int32_t rank, std::int32_t procs) const {
    return rank < window_ || rank + window_ >= procs;
  }

  // How far away, on each side, what matters for these slots is.
  std::int32_t window() const { return window_; }
  // A number for the colors on both sides as far away as that. REQUIRES: 2 * window() < 64.
  std::size_t window_key(std::uint64_t left, std::uint64_t right) const {
    const std::int32_t rest = 64 - window_;
    return left >> rest << window_ | right << rest >> rest;
  }

  // From when on a side is closed. REQUIRES: 1 <= distance <= reach.
  std::int32_t left_closed(std::int32_t distance) const { return 2 * distance - 1 + reaction_; }
  std::int32_t right_closed(std::int32_t distance) const { return 2 * distance - 2 + reaction_; }

  // Calls f(side it comes from, distance, slot in which it is served) for all that arrives at
  // `rank` from slot `reaction` to `end` - 1, as it is served. Returns the first slot in which the
  // port is free.
  template <typename F>
  std::int32_t replay(const TreeColoring& coloring, std::int32_t rank, F f) const;

 private:
  struct Pattern {
    std::uint64_t mask;   // of the colors on that side, nearest in the highest bit (left) or in the
    std::uint64_t value;  // lowest (right)
    std::int32_t slot;
    std::int32_t distance;
    Side from;
    bool matches(std::uint64_t left, std::uint64_t right) const {
      return ((from == Side::left ? left : right) & mask) == value;
    }
  };

  void add_from_left(std::int32_t slot, std::int32_t distance, std::int32_t left, bool is_exact);
  void add_from_right(std::int32_t slot, std::int32_t distance, std::int32_t right, bool is_exact);
  void add(Side from, std::int32_t slot, std::int32_t distance, std::int32_t free_towards,
           std::int32_t behind, bool is_exact);
  std::vector<std::uint64_t> matches(Side from) const;
  std::vector<std::uint64_t> arrival_sets(std::vector<std::uint64_t> matches) const;
  void tabulate();
  // Calls f(pattern) for each pattern that matches these colors, in their order.
  template <typename F>
  void for_each_match(std::uint64_t left, std::uint64_t right, F f) const;

  std::int32_t reaction_;
  std::int32_t reach_;
  std::int32_t end_;
  std::int32_t window_ = 0;  // how many places the patterns look at, on each side
  std::int32_t delay_max_ = 0;
  bool is_usable_ = true;
  std::vector<Pattern> patterns_;  // by slot, then from left first, then by sender
  // Which of them match (bits), by the colors of the window on that side. Empty if there are many.
  std::vector<std::uint64_t> left_matches_;
  std::vector<std::uint64_t> right_matches_;
};

template <typename F>
void EarlySlots::for_each_match(std::uint64_t left, std::uint64_t right, F f) const {
  if (left_matches_.empty()) {
    for (const Pattern& pattern : patterns_)
      if (pattern.matches(left, right)) f(pattern);
    return;
  }
  const std::uint64_t window = (std::uint64_t{1} << window_) - 1;
  std::uint64_t matches = left_matches_[left >> (64 - window_)] | right_matches_[right & window];
  for (; matches != 0; matches &= matches - 1)
    f(patterns_[static_cast<std::size_t>(std::countr_zero(matches))]);
}

template <typename F>
std::int32_t EarlySlots::replay(const TreeColoring& coloring, std::int32_t rank, F f) const {
  const std::uint64_t left = coloring.colored_left_of(rank);
  const std::uint64_t right = coloring.colored_right_of(rank);
  std::int32_t free = reaction_;
  const auto take = [&](const Pattern& pattern) {
    const std::int32_t served = std::max(free, pattern.slot);
    free = served + 1;
    f(pattern.from, pattern.distance, served);
  };
  if (!is_near_end(rank, coloring.procs())) {
    for_each_match(left, right, take);
    return free;
  }
  // Near the end of the ring the left ones are not the lower ones.
  struct Arrival {
    const Pattern* pattern;
    std::int32_t sender;
  };
  std::vector<Arrival> arrivals;
  for_each_match(left, right, [&](const Pattern& pattern) {
    const std::int32_t offset = pattern.from == Side::left ? -pattern.distance : pattern.distance;
    arrivals.push_back({&pattern, topology::ring_neighbor(rank, offset, coloring.procs())});
  });
  std::stable_sort(arrivals.begin(), arrivals.end(), [](const Arrival& a, const Arrival& b) {
    return a.pattern->slot != b.pattern->slot ? a.pattern->slot < b.pattern->slot
                                              : a.sender < b.sender;
  });
  for (const Arrival& arrival : arrivals) take(*arrival.pattern);
  return free;
}

}  // namespace resprout::sim
