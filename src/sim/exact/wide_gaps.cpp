// RingCorrection for checked correction, with the early slots computed for 64 processes at a time.
//
// Only borders of wide gaps, too wide for EarlySlots::reach, are followed slot by slot.
#include <algorithm>
#include <bit>

#include "sim/exact/ring_correction.hpp"
#include "topology/ring.hpp"

namespace resprout::sim {
namespace {

// Who has a colored neighbor at that distance, 1 .. 63, on the left or right, of the 64 processes
// whose colors are `here`; beside them are those of here[-1] and here[1].
std::uint64_t left_of(const std::uint64_t* here, std::int32_t distance) {
  return here[0] << distance | here[-1] >> (64 - distance);
}
std::uint64_t right_of(const std::uint64_t* here, std::int32_t distance) {
  return here[0] >> distance | here[1] << (64 - distance);
}

}  // namespace

void RingCorrection::correct_wide_gaps() {
  borders_.clear();
  active_.clear();
  settled_.clear();
  touched_.clear();
  epoch_ += procs_ * std::int64_t{4};  // no slot of an earlier run is so late
  last_early_ = reaction_;
  // All send in all slots up to `reaction`, then those whom the sweep finds.
  outcome_.messages = std::int64_t{reaction_ + 1} * coloring_->colored();
  coloring_->for_each_run_beside([this](std::size_t begin, std::size_t end) { sweep(begin, end); });
  for (std::size_t i = 0; i < borders_.size(); ++i)
    if (borders_[i].right_distance == 0)
      measure_wide_gap(borders_[i], borders_[i + 1 == borders_.size() ? 0 : i + 1]);
  for (std::size_t i = 0; i < borders_.size(); ++i) {
    enter(borders_[i]);
    if (!borders_[i].is_settled) activate(i);
  }
  for (std::size_t i = 0; i < borders_.size(); ++i)
    if (is_very_wide(borders_[i].right_distance))
      color_wide_gap(borders_[i], borders_[i + 1 == borders_.size() ? 0 : i + 1]);
  unsettle_heard();
  for (const std::int32_t at : active_) enter_late_slots(borders_[static_cast<std::size_t>(at)]);
  for (std::int32_t slot = early_.end(); !active_.empty() || !settled_.empty(); ++slot) {
    react(slot);
    send_settled(slot);
  }
  for (auto& slot : hearings_) slot.clear();
  if (outcome_.last_colored < reaction_ - 1)
    coloring_->for_each_run_beside(
        [this](std::size_t begin, std::size_t end) { color_narrow_gaps(begin, end); });
  settle_late_slots();
  settle_early_slots();
}

// Counts what those of words `begin` .. `end` - 1 send before the late slots, and finds the borders
// of wide gaps among them.
void RingCorrection::sweep(std::size_t begin, std::size_t end) {
  const std::uint64_t* const colors = coloring_->colors().data() + 1;
  std::uint64_t* const left = left_open_.data();
  std::uint64_t* const right = right_open_.data();
  std::uint64_t* const either = either_open_.data();
  for (std::size_t at = begin; at < end; ++at) {
    left[at] = colors[at];
    right[at] = colors[at] & ~right_of(colors + at, 1);
  }
  left[end - 1] &= coloring_->valid_word(end - 1);
  right[end - 1] &= coloring_->valid_word(end - 1);
  for (std::int32_t slot = reaction_ + 1; slot < early_.end(); ++slot) {
    const std::int32_t later = slot - reaction_;
    const std::int32_t distance = later / 2 + 1;
    std::uint64_t any_right = 0;
    if (later % 2 == 1) {
      for (std::size_t at = begin; at < end; ++at) {
        left[at] &= ~left_of(colors + at, distance);
        either[at] = left[at] | right[at];
        any_right |= right[at];
      }
    } else {
      for (std::size_t at = begin; at < end; ++at) {
        right[at] &= ~right_of(colors + at, distance);
        either[at] = left[at] | right[at];
        any_right |= right[at];
      }
    }
    const std::int32_t senders = count_bits(std::span(either + begin, end - begin));
    if (senders == 0) return;
    if (any_right != 0) outcome_.g_max = std::max(outcome_.g_max, distance);
    outcome_.messages += senders;
    last_early_ = std::max(last_early_, slot);
  }
  for (std::size_t at = begin; at < end; ++at) {
    const auto first = static_cast<std::int32_t>(at * 64);
    std::uint64_t left_wide = left[at];
    // Of those who have their left neighbor at `reach`, only some near the end are not sure of it.
    if (!early_.is_near_end(first, procs_) && !early_.is_near_end(first + 63, procs_))
      left_wide &= ~left_of(colors + at, early_.reach());
    if ((left_wide | right[at]) != 0) add_wide_borders(at, left_wide, right[at]);
  }
}

// The gap's two borders take turns, so each slot before `reaction` reaches one more process of it.
void RingCorrection::color_narrow_gaps(std::size_t begin, std::size_t end) {
  const std::uint64_t* const colors = coloring_->colors().data() + 1;
  std::uint64_t* const missing = left_open_.data();  // nobody needs it any more
  for (std::size_t at = begin; at < end; ++at)
    missing[at] = ~colors[at] & ~coloring_->dead_word(at);
  missing[end - 1] &= coloring_->valid_word(end - 1);
  for (std::int32_t slot = 0; slot < reaction_; ++slot) {
    const std::int32_t distance = slot / 2 + 1;
    std::uint64_t any_reached = 0;
    for (std::size_t at = begin; at < end; ++at) {
      const std::uint64_t reached = missing[at] & (slot % 2 == 0 ? right_of(colors + at, distance)
                                                                 : left_of(colors + at, distance));
      missing[at] &= ~reached;
      any_reached |= reached;
    }
    if (any_reached != 0) outcome_.last_colored = std::max(outcome_.last_colored, slot);
  }
}

// Of a word: whose left or right side is open beyond the early slots.
void RingCorrection::add_wide_borders(std::size_t at, std::uint64_t left_wide,
                                      std::uint64_t right_wide) {
  for (std::uint64_t left = left_wide | right_wide; left != 0; left &= left - 1) {
    const int bit = std::countr_zero(left);
    const bool is_left_wide = (left_wide >> bit & 1) != 0;
    const bool is_right_wide = (right_wide >> bit & 1) != 0;
    Border border =
        wide_border(static_cast<std::int32_t>(at * 64) + bit, is_left_wide, is_right_wide);
    border.is_settled = is_left_wide != is_right_wide && settle(border);
    outcome_.g_max = std::max(outcome_.g_max, border.right_distance - 1);
    const bool is_beside_very_wide =
        is_very_wide(border.left_distance) || is_very_wide(border.right_distance);
    if (border.is_settled && !is_beside_very_wide) continue;
    if (is_very_wide(border.left_distance)) border.left_distance = 0;  // unknown for now
    if (is_very_wide(border.right_distance)) border.right_distance = 0;
    borders_.push_back(border);
  }
}

RingCorrection::Border RingCorrection::wide_border(std::int32_t rank, bool is_left_wide,
                                                   bool is_right_wide) const {
  Border border{.rank = rank};
  border.left_distance = std::countl_zero(coloring_->colored_left_of(rank)) + 1;
  border.right_distance = std::countr_zero(coloring_->colored_right_of(rank)) + 1;
  if (!is_left_wide) border.left_heard = border.left_distance;
  if (!is_right_wide) border.right_heard = border.right_distance;
  return border;
}

void RingCorrection::measure_wide_gap(Border& border, Border& next) {
  // A single border has the whole ring between itself and itself.
  const std::int32_t first = border.rank + 1 == procs_ ? 0 : border.rank + 1;
  const std::int32_t distance = topology::ring_distance(first, next.rank, procs_) + 1;
  border.right_distance = distance;
  next.left_distance = distance;
  outcome_.g_max = std::max(outcome_.g_max, distance - 1);
}

// What a border has sent before the late slots.
void RingCorrection::enter(Border& border) const {
  const std::int32_t end = early_.end();
  const bool is_left_open = border.left_heard == nobody;
  const bool is_right_open = border.right_heard == nobody;
  const std::int32_t left = is_left_open ? end : early_.left_closed(border.left_distance);
  const std::int32_t right = is_right_open ? end : early_.right_closed(border.right_distance);
  const std::int32_t in_turns = std::min(left, right);
  border.left_sent = (in_turns + 1) / 2 + (is_left_open ? end - in_turns : 0);
  border.right_sent = in_turns / 2 + (is_left_open ? 0 : end - in_turns);
}

// A border with one side open that will close it by what it has been sent early is settled: a late
// message is known in slot end + reaction at the earliest, so nothing that is still to come
// matters. That is most of them. False: this one is not.
bool RingCorrection::settle(const Border& border) {
  const Side open = border.left_heard == nobody ? Side::left : Side::right;
  const Settlement settlement = settlement_of(border, open);
  if (!settlement.is_certain) return false;
  if (settlement.closed > early_.end())
    settled_.push_back(
        {border.rank, neighbor(border.rank, {open, settlement.sent + 1}), settlement.closed, open});
  return true;
}

// Away from the end of the ring it follows from the colors of the window.
RingCorrection::Settlement RingCorrection::settlement_of(const Border& border, Side open) {
  if (settlements_.empty() || early_.is_near_end(border.rank, procs_))
    return find_settlement(border, open);
  Settlement& known = settlements_[early_.window_key(coloring_->colored_left_of(border.rank),
                                                     coloring_->colored_right_of(border.rank))];
  if (!known.is_known) known = find_settlement(border, open);
  return known;
}

RingCorrection::Settlement RingCorrection::find_settlement(Border border, Side open) const {
  enter(border);
  const std::int32_t end = early_.end();
  const std::int32_t sent = open == Side::left ? border.left_sent : border.right_sent;
  std::int32_t closed = nobody;
  early_.replay(*coloring_, border.rank,
                [&](Side side, std::int32_t distance, std::int32_t served) {
                  if (side == open)
                    closed = std::min(closed, std::max(served + reaction_, end + distance - sent));
                });
  const bool is_certain = closed <= end + reaction_;
  return {.closed = static_cast<std::uint8_t>(is_certain ? closed : 0),
          .sent = static_cast<std::uint8_t>(sent),
          .is_known = true,
          .is_certain = is_certain};
}

// Where a message of a settled border goes to one that listens, the order of senders matters.
void RingCorrection::unsettle_heard() {
  const std::size_t listening = active_.size();
  std::size_t kept = 0;
  for (const Settled& settled : settled_) {
    bool is_heard = false;
    for (std::int32_t i = 0; i < settled.closed - early_.end(); ++i)
      is_heard = is_heard || sending_.contains(neighbor(settled.to, {settled.side, i}));
    if (!is_heard) {
      settled_[kept++] = settled;
      continue;
    }
    borders_.push_back(
        wide_border(settled.rank, settled.side == Side::left, settled.side == Side::right));
    enter(borders_.back());
    active_.push_back(static_cast<std::int32_t>(borders_.size() - 1));
  }
  settled_.resize(kept);
  for (std::size_t i = listening; i < active_.size(); ++i) listen(active_[i]);
  std::sort(active_.begin(), active_.end(), [this](std::int32_t a, std::int32_t b) {
    return borders_[static_cast<std::size_t>(a)].rank < borders_[static_cast<std::size_t>(b)].rank;
  });
}

void RingCorrection::send_settled(std::int32_t slot) {
  std::size_t kept = 0;
  for (Settled& settled : settled_) {
    const std::int32_t to = settled.to;
    ++outcome_.messages;
    if (coloring_->is_dead(to)) {
      outcome_.last_lost = slot;
    } else {
      serve(to, slot);
      if (unreached_.contains(to)) reach(to, slot);
    }
    if (slot + 1 == settled.closed) continue;
    settled.to = neighbor(to, {settled.side, 1});
    settled_[kept++] = settled;
  }
  settled_.resize(kept);
}

// What a border will hear of what was sent to it before the late slots.
void RingCorrection::enter_late_slots(const Border& border) {
  const std::int32_t free = early_.replay(
      *coloring_, border.rank, [&](Side side, std::int32_t distance, std::int32_t served) {
        if ((side == Side::left ? border.left_heard : border.right_heard) == nobody)
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
std::uint64_t RingCorrection::senders_in(std::size_t at, std::int32_t slot) const {
  const std::uint64_t* const here = coloring_->colors().data() + 1 + at;
  const std::int32_t later = slot - reaction_;
  std::uint64_t left_open = ~std::uint64_t{0};
  std::uint64_t right_open = ~std::uint64_t{0};
  for (std::int32_t i = 1; i <= (later + 1) / 2; ++i) left_open &= ~left_of(here, i);
  for (std::int32_t i = 1; i <= later / 2 + 1; ++i) right_open &= ~right_of(here, i);
  return (left_open | right_open) & here[0] & coloring_->valid_word(at);
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
    coloring_->for_each_run_beside([&](std::size_t begin, std::size_t end) {
      const std::int32_t last = slot + early_.delay_max();
      for (std::size_t at = begin; at < end && outcome_.last_served < last; ++at)
        settle_senders(at, slot);
    });
  }
}

void RingCorrection::settle_senders(std::size_t at, std::int32_t slot) {
  for (std::uint64_t left = senders_in(at, slot); left != 0; left &= left - 1) {
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
}

}  // namespace resprout::sim
