// RingCorrection for checked correction, with the early slots computed for 64 processes at a time.
//
// Only borders of wide gaps, too wide for EarlySlots::reach, are followed slot by slot.
#include <algorithm>
#include <bit>

#include "sim/exact/ring_correction.hpp"
#include "topology/ring.hpp"

namespace resprout::sim {
// 64 processes, and those beside them. Bits of 1: colored.
struct RingCorrection::Row {
  Row(const TreeColoring& coloring, std::size_t at) {
    if (at > 0 && static_cast<std::int64_t>(at * 64) + 128 <= coloring.procs()) {
      before = coloring.colored_word(at - 1);
      here = coloring.colored_word(at);
      behind = coloring.colored_word(at + 1);
    } else {  // goes on with rank 0
      here = coloring.colored_from(static_cast<std::int64_t>(at * 64));
      before = coloring.colored_left_of(static_cast<std::int32_t>(at * 64));
      behind = coloring.colored_from(static_cast<std::int64_t>(at * 64) + 64);
    }
  }

  // Whose neighbor at that distance, 1 .. 63, is colored.
  std::uint64_t left(std::int32_t distance) const {
    return here << distance | before >> (64 - distance);
  }
  std::uint64_t right(std::int32_t distance) const {
    return here >> distance | behind << (64 - distance);
  }

  std::uint64_t before;
  std::uint64_t here;
  std::uint64_t behind;
};

void RingCorrection::correct_wide_gaps() {
  borders_.clear();
  active_.clear();
  touched_.clear();
  epoch_ += procs_ * std::int64_t{4};  // no slot of an earlier run is so late
  last_early_ = reaction_;
  // All send in all slots up to `reaction`, then those whom the sweep finds.
  outcome_.messages = std::int64_t{reaction_ + 1} * coloring_->colored();
  coloring_->for_each_word_beside([this](std::size_t at) { sweep_word(at); });
  for (std::size_t i = 0; i < borders_.size(); ++i)
    if (borders_[i].right_distance == 0)
      measure_wide_gap(borders_[i], borders_[i + 1 == borders_.size() ? 0 : i + 1]);
  for (std::size_t i = 0; i < borders_.size(); ++i) {
    border_at_[static_cast<std::size_t>(borders_[i].rank)] = static_cast<std::int32_t>(i);
    active_.push_back(static_cast<std::int32_t>(i));
  }
  for (Border& border : borders_) enter_late_slots(border);
  for (std::size_t i = 0; i < borders_.size(); ++i)
    if (borders_[i].right_distance > early_.reach())
      color_wide_gap(borders_[i], borders_[i + 1 == borders_.size() ? 0 : i + 1]);
  for (std::int32_t slot = early_.end(); !active_.empty(); ++slot) react(slot);
  for (auto& slot : hearings_) slot.clear();
  settle_late_slots();
  settle_early_slots();
}

void RingCorrection::sweep_word(std::size_t at) {
  const Row row(*coloring_, at);
  const std::uint64_t valid = coloring_->valid_word(at);
  color_word(row, ~row.here & ~coloring_->dead_word(at) & valid);
  Open open{row.here & valid, row.here & valid & ~row.right(1)};
  for (std::int32_t slot = reaction_ + 1; slot < early_.end(); ++slot) {
    const std::int32_t later = slot - reaction_;
    if (later % 2 == 1)
      open.left &= ~row.left((later + 1) / 2);
    else
      open.right &= ~row.right(later / 2 + 1);
    if ((open.left | open.right) == 0) return;
    if (open.right != 0) outcome_.g_max = std::max(outcome_.g_max, later / 2 + 1);
    outcome_.messages += count_bits(open.left | open.right);
    last_early_ = std::max(last_early_, slot);
  }
  // Of those who have their left neighbor at `reach`, only some near the end are not sure of it.
  if (!early_.is_near_end(static_cast<std::int32_t>(at * 64), procs_) &&
      !early_.is_near_end(static_cast<std::int32_t>(at * 64) + 63, procs_))
    open.left &= ~row.left(early_.reach());
  add_wide_borders(at, open);
}

// The gap's two borders take turns, so each slot before `reaction` reaches one more process of it.
// `missing`: the live ones of the row.
void RingCorrection::color_word(const Row& row, std::uint64_t missing) {
  for (std::int32_t slot = 0; missing != 0 && slot < reaction_; ++slot) {
    const std::int32_t distance = slot / 2 + 1;
    const std::uint64_t reached =
        missing & (slot % 2 == 0 ? row.right(distance) : row.left(distance));
    if (reached != 0) outcome_.last_colored = std::max(outcome_.last_colored, slot);
    missing &= ~reached;
  }
}

// `open`: in the last early slot.
void RingCorrection::add_wide_borders(std::size_t at, const Open& open) {
  for (std::uint64_t left = open.left | open.right; left != 0; left &= left - 1) {
    const std::int32_t bit = std::countr_zero(left);
    Border border{.rank = static_cast<std::int32_t>(at * 64) + bit};
    const auto left_distance = std::countl_zero(coloring_->colored_left_of(border.rank)) + 1;
    const auto right_distance = std::countr_zero(coloring_->colored_right_of(border.rank)) + 1;
    const bool is_left_wide =
        left_distance > early_.reach() ||
        (left_distance == early_.reach() && early_.is_near_end(border.rank, procs_));
    const bool is_right_wide = right_distance > early_.reach();
    if (!is_left_wide && !is_right_wide) continue;
    // For now 0 stands for a wide gap.
    border.left_distance = left_distance > early_.reach() ? 0 : left_distance;
    border.right_distance = is_right_wide ? 0 : right_distance;
    if (!is_left_wide) border.left_heard = left_distance;
    if (!is_right_wide) border.right_heard = right_distance;
    borders_.push_back(border);
  }
}

void RingCorrection::measure_wide_gap(Border& border, Border& next) {
  // A single border has the whole ring between itself and itself.
  const std::int32_t first = border.rank + 1 == procs_ ? 0 : border.rank + 1;
  const std::int32_t distance = topology::ring_distance(first, next.rank, procs_) + 1;
  border.right_distance = distance;
  next.left_distance = distance;
  outcome_.g_max = std::max(outcome_.g_max, distance - 1);
}

// What a border has sent before the late slots, and what it will hear of what was sent to it.
void RingCorrection::enter_late_slots(Border& border) {
  const std::int32_t end = early_.end();
  const bool is_left_open = border.left_heard == nobody;
  const bool is_right_open = border.right_heard == nobody;
  const std::int32_t left = is_left_open ? end : early_.left_closed(border.left_distance);
  const std::int32_t right = is_right_open ? end : early_.right_closed(border.right_distance);
  const std::int32_t in_turns = std::min(left, right);
  border.left_sent = (in_turns + 1) / 2 + (is_left_open ? end - in_turns : 0);
  border.right_sent = in_turns / 2 + (is_left_open ? 0 : end - in_turns);
  const std::int32_t free = early_.replay(
      *coloring_, border.rank, [&](Side side, std::int32_t distance, std::int32_t served) {
        if (side == Side::left ? is_left_open : is_right_open)
          expect(border.rank, side, distance, served);
      });
  port_free_[static_cast<std::size_t>(border.rank)] = epoch_ + free;
}

// What the borders reach in the slots from `reaction` to early_.end(), and what they do not.
void RingCorrection::color_wide_gap(const Border& left, const Border& right) {
  const std::int32_t size = left.right_distance - 1;
  const std::int32_t left_turns =
      left.left_heard == nobody ? early_.end() : early_.left_closed(left.left_distance);
  const std::int32_t right_turns =
      right.right_heard == nobody ? early_.end() : early_.right_closed(right.right_distance);
  for (std::int32_t place = reaction_ / 2 + 1; place <= size - (reaction_ + 1) / 2; ++place) {
    const std::int32_t rank = topology::ring_neighbor(left.rank, place, procs_);
    if (coloring_->is_dead(rank)) continue;
    const std::int32_t back = size + 1 - place;
    const std::int32_t slot =
        std::min(place <= left_turns / 2 ? 2 * place - 1 : left_turns + place - left_turns / 2 - 1,
                 back <= (right_turns + 1) / 2 ? 2 * back - 2
                                               : right_turns + back - (right_turns + 1) / 2 - 1);
    if (slot < early_.end()) {
      outcome_.last_colored = std::max(outcome_.last_colored, slot);
    } else {
      unreached_.insert(rank);
      ++outcome_.uncolored;
    }
  }
}

// Those of a word who have a side open in an early slot.
RingCorrection::Open RingCorrection::open_in(std::size_t at, std::int32_t slot) const {
  const Row row(*coloring_, at);
  const std::int32_t later = slot - reaction_;
  Open open{row.here & coloring_->valid_word(at), row.here & coloring_->valid_word(at)};
  for (std::int32_t left = 1; left <= (later + 1) / 2; ++left) open.left &= ~row.left(left);
  for (std::int32_t right = 1; right <= later / 2 + 1; ++right) open.right &= ~row.right(right);
  return open;
}

// REQUIRES: it does send in this slot, an early one.
RingCorrection::Send RingCorrection::early_send(std::int32_t rank, std::int32_t slot) const {
  const std::int32_t left = std::countl_zero(coloring_->colored_left_of(rank)) + 1;
  const std::int32_t right = std::countr_zero(coloring_->colored_right_of(rank)) + 1;
  const std::int32_t later = slot - reaction_;
  const bool is_left_open = left > (later + 1) / 2;
  const bool is_right_open = right > later / 2 + 1;
  if (is_left_open && is_right_open) return uninformed(slot);
  const std::int32_t turns = is_left_open ? early_.right_closed(right) : early_.left_closed(left);
  if (is_left_open) return {Side::left, (turns + 1) / 2 + slot - turns + 1};
  return {Side::right, turns / 2 + slot - turns + 1};
}

// Late messages were served as if nothing early had been waiting. Where that could matter for the
// last one of all, this looks again.
void RingCorrection::settle_late_slots() {
  for (std::size_t i = 0; i < touched_.size(); ++i) {
    const std::int32_t to = touched_[i].to;
    const auto last =
        static_cast<std::int32_t>(port_free_[static_cast<std::size_t>(to)] - epoch_ - 1);
    if (last + early_.delay_max() <= outcome_.last_served) continue;
    std::int32_t free = early_.replay(*coloring_, to, [](Side, std::int32_t, std::int32_t) {});
    for (const Touch& touch : touched_)
      if (touch.to == to) free = std::max(free, touch.slot) + 1;
    outcome_.last_served = std::max(outcome_.last_served, free - 1);
  }
}

// The early messages, from the last ones back to where even the longest delay does not matter.
void RingCorrection::settle_early_slots() {
  for (std::int32_t slot = last_early_;
       slot >= reaction_ && slot + early_.delay_max() > outcome_.last_served; --slot) {
    coloring_->for_each_word_beside([&](std::size_t at) {
      const Open open = open_in(at, slot);
      for (std::uint64_t left = open.left | open.right; left != 0; left &= left - 1) {
        const std::int32_t rank = static_cast<std::int32_t>(at * 64) + std::countr_zero(left);
        const std::int32_t to = neighbor(rank, early_send(rank, slot));
        if (coloring_->is_dead(to)) {
          outcome_.last_lost = std::max(outcome_.last_lost, slot);
          continue;
        }
        const std::int32_t free =
            early_.replay(*coloring_, to, [](Side, std::int32_t, std::int32_t) {});
        outcome_.last_served = std::max(outcome_.last_served, free - 1);
      }
    });
  }
}

}  // namespace resprout::sim
