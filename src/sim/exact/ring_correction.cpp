#include "sim/exact/ring_correction.hpp"

#include <algorithm>

#include "topology/ring.hpp"

namespace resprout::sim {

using protocols::Correction;

namespace {

// Without hearing anything, a process sends `distance` to each side, or round the ring.
std::int32_t slots_of(Correction correction, std::int32_t distance, std::int32_t procs) {
  if (correction == Correction::checked) return INT32_MAX;
  return static_cast<std::int32_t>(std::min<std::int64_t>(std::int64_t{2} * distance, procs - 1));
}

}  // namespace

RingCorrection::RingCorrection(Correction correction, std::int32_t distance, std::int32_t reaction,
                               std::int32_t procs)
    : correction_(correction),
      distance_(distance),
      reaction_(correction == Correction::opportunistic ? INT32_MAX : reaction),
      procs_(procs),
      quiet_from_(slots_of(correction, distance, procs)),
      bystanders_send_(in_reaction()),
      early_(correction == Correction::checked ? reaction : 2),
      unreached_(procs),
      port_free_(static_cast<std::size_t>(procs)),
      sending_(procs),
      border_at_(static_cast<std::size_t>(procs)),
      left_open_((static_cast<std::size_t>(procs) + 63) / 64),
      right_open_(left_open_.size()),
      either_open_(left_open_.size()) {
  if (correction == Correction::checked && early_.window() <= 8)
    settlements_.resize(std::size_t{1} << (2 * early_.window()));
}

std::int32_t RingCorrection::neighbor(std::int32_t rank, const Send& send) const {
  const std::int32_t offset = send.side == Side::left ? -send.distance : send.distance;
  return topology::ring_neighbor(rank, offset, procs_);
}

// What everybody sends in a slot before `reaction`: in turns, checked correction begins left.
RingCorrection::Send RingCorrection::uninformed(std::int32_t slot) const {
  return {(slot % 2 == 0) == is_checked() ? Side::left : Side::right, slot / 2 + 1};
}

// How many of the slots before `reaction` go to that side.
std::int32_t RingCorrection::uninformed_count(Side side) const {
  return (side == Side::left) == is_checked() ? (reaction_ + 1) / 2 : reaction_ / 2;
}

// What bystanders send in slot `reaction`. Checked: they have heard their right neighbor, and go on
// to the left. Optimized: they have heard the left one, leave to it all but the last place on the
// right, and take that.
std::optional<RingCorrection::Send> RingCorrection::in_reaction() const {
  if (!reacts()) return std::nullopt;
  if (is_checked()) return Send{Side::left, uninformed_count(Side::left) + 1};
  const std::int32_t right = uninformed_count(Side::right);
  const std::int32_t left = uninformed_count(Side::left);
  if (right >= distance_ || left + distance_ >= procs_) return std::nullopt;
  return Send{Side::right, distance_};
}

bool RingCorrection::is_bystander(std::int32_t rank) const {
  return coloring_->is_colored(rank) && coloring_->is_colored(neighbor(rank, {Side::left, 1})) &&
         coloring_->is_colored(neighbor(rank, {Side::right, 1}));
}

CorrectionOutcome RingCorrection::run(const TreeColoring& coloring) {
  coloring_ = &coloring;
  outcome_ = {};
  if (is_checked() && early_.is_usable() && procs_ >= 256) {
    correct_wide_gaps();
    settle_quiescence(reaction_);
    unreached_.clear();
    return outcome_;
  }
  find_borders();
  const std::int32_t slots = std::min(reaction_, quiet_from_);  // in which all do the same
  outcome_.messages = std::int64_t{slots} * coloring.colored();
  if (reacts()) {
    if (bystanders_send_)
      outcome_.messages += coloring.colored() - static_cast<std::int64_t>(borders_.size());
    correct_gaps();
  }
  settle_quiescence(slots);
  unreached_.clear();
  return outcome_;
}

void RingCorrection::find_borders() {
  borders_.clear();
  coloring_->for_each_border([this](std::int32_t rank, bool misses_left, bool misses_right) {
    // For now 0 stands for a gap.
    borders_.push_back({.rank = rank,
                        .left_distance = misses_left ? 0 : 1,
                        .right_distance = misses_right ? 0 : 1});
  });
  for (std::size_t i = 0; i < borders_.size(); ++i)
    if (borders_[i].right_distance == 0)
      measure_gap(borders_[i], borders_[i + 1 == borders_.size() ? 0 : i + 1]);
}

void RingCorrection::measure_gap(Border& border, Border& next) {
  // A single border has the whole ring between itself and itself.
  const std::int32_t distance =
      topology::ring_distance(border.rank + 1 == procs_ ? 0 : border.rank + 1, next.rank, procs_) +
      1;
  border.right_distance = distance;
  next.left_distance = distance;
  outcome_.g_max = std::max(outcome_.g_max, distance - 1);
  color_gap(border.rank, distance - 1);
}

// The gap's two borders take turns, so each slot reaches one more process of it.
void RingCorrection::color_gap(std::int32_t border, std::int32_t size) {
  const std::int32_t slots = std::min({reaction_, quiet_from_, size});
  const auto reached = [&](std::int32_t slot) {
    const Send send = uninformed(slot);
    const std::int32_t place = send.side == Side::right ? send.distance : size + 1 - send.distance;
    return topology::ring_neighbor(border, place, procs_);
  };
  for (std::int32_t slot = slots - 1; slot > outcome_.last_colored; --slot)
    if (!coloring_->is_dead(reached(slot))) outcome_.last_colored = slot;
  if (size <= slots) return;
  const bool is_right_first = !is_checked();
  const std::int32_t from_border = is_right_first ? (slots + 1) / 2 : slots / 2;
  for (std::int32_t i = 0; i < size - slots; ++i) {
    const std::int32_t rank = topology::ring_neighbor(border, from_border + 1 + i, procs_);
    if (coloring_->is_dead(rank)) continue;
    unreached_.insert(rank);
    ++outcome_.uncolored;
  }
}

void RingCorrection::correct_gaps() {
  if (borders_.empty()) return;
  epoch_ += procs_ * std::int64_t{4};  // no slot of an earlier run is so late
  const std::int32_t slots_left = uninformed_count(Side::left);
  const std::int32_t slots_right = uninformed_count(Side::right);
  active_.clear();
  for (std::size_t i = 0; i < borders_.size(); ++i) {
    Border& border = borders_[i];
    border.left_sent = slots_left;
    border.right_sent = slots_right;
    // What comes from the left was sent to the right.
    if (border.left_distance <= slots_right)
      border.left_due = 2 * border.left_distance - (is_checked() ? 1 : 2) + reaction_;
    if (border.right_distance <= slots_left)
      border.right_due = 2 * border.right_distance - (is_checked() ? 2 : 1) + reaction_;
    activate(i);
  }
  for (std::int32_t slot = reaction_; !active_.empty(); ++slot) {
    react(slot);
    if (slot == reaction_) listen_to_bystanders();
  }
  for (auto& slot : hearings_) slot.clear();
}

void RingCorrection::activate(std::size_t border) {
  active_.push_back(static_cast<std::int32_t>(border));
  listen(active_.back());
}

void RingCorrection::listen(std::int32_t border) {
  const std::int32_t rank = borders_[static_cast<std::size_t>(border)].rank;
  border_at_[static_cast<std::size_t>(rank)] = border;
  sending_.insert(rank);
}

// One slot of all borders that still send.
void RingCorrection::react(std::int32_t slot) {
  if (static_cast<std::size_t>(slot) < hearings_.size()) {
    for (const Hearing& hearing : hearings_[static_cast<std::size_t>(slot)])
      hear(borders_[static_cast<std::size_t>(hearing.border)], hearing.side, hearing.distance);
    hearings_[static_cast<std::size_t>(slot)].clear();
  }
  std::size_t kept = 0;
  for (const std::int32_t at : active_) {
    Border& border = borders_[static_cast<std::size_t>(at)];
    if (slot == border.left_due) hear(border, Side::left, border.left_distance);
    if (slot == border.right_due) hear(border, Side::right, border.right_distance);
    Side side{};
    if (!choose(border, side)) {
      sending_.erase(border.rank);
      continue;
    }
    active_[kept++] = at;
    send(border, side, slot);
  }
  active_.resize(kept);
}

void RingCorrection::hear(Border& border, Side side, std::int32_t distance) const {
  std::int32_t& heard = side == Side::left ? border.left_heard : border.right_heard;
  heard = std::min(heard, distance);
  if (is_checked()) return;
  // The sender covers what lies behind it, and `distance_ - distance` places behind us.
  std::int32_t& behind_us = side == Side::left ? border.right_sent : border.left_sent;
  behind_us = std::max(behind_us, distance_ - distance);
}

// As the machine does: protocols::CorrectedTree. False: it sends no more.
bool RingCorrection::choose(const Border& border, Side& side) const {
  if (border.left_sent + border.right_sent >= procs_ - 1) return false;  // covers the ring
  const bool is_left_open = is_checked()
                                ? border.left_sent < border.left_heard
                                : border.left_sent < distance_ && border.left_heard == nobody;
  const bool is_right_open = is_checked()
                                 ? border.right_sent < border.right_heard
                                 : border.right_sent < distance_ && border.right_heard == nobody;
  if (!is_left_open && !is_right_open) return false;
  const bool is_left_due =
      is_checked() ? border.left_sent <= border.right_sent : border.left_sent < border.right_sent;
  side = is_left_open && (is_left_due || !is_right_open) ? Side::left : Side::right;
  return true;
}

void RingCorrection::send(Border& border, Side side, std::int32_t slot) {
  const std::int32_t distance = side == Side::left ? ++border.left_sent : ++border.right_sent;
  ++outcome_.messages;
  const Send sent{side, distance};
  const std::int32_t to = neighbor(border.rank, sent);
  if (coloring_->is_dead(to))
    outcome_.last_lost = slot;
  else
    deliver(border, to, sent, slot);
}

void RingCorrection::deliver(const Border& from, std::int32_t to, const Send& send,
                             std::int32_t slot) {
  const std::int32_t served = serve(from.rank, to, slot);
  if (coloring_->is_colored(to)) {
    expect(to, opposite(send.side), send.distance, served);
  } else if (unreached_.contains(to)) {
    reach(to, slot);
  }
}

void RingCorrection::reach(std::int32_t rank, std::int32_t slot) {
  unreached_.erase(rank);
  --outcome_.uncolored;
  outcome_.last_colored = slot;
}

// The slot in which the receiver serves the message: one a slot, in the order of slots, then of
// senders.
std::int32_t RingCorrection::serve(std::int32_t to, std::int32_t slot) {
  std::int64_t& free = port_free_[static_cast<std::size_t>(to)];
  const auto served = static_cast<std::int32_t>(std::max(free - epoch_, std::int64_t{slot}));
  free = epoch_ + served + 1;
  touched_.push_back({slot, to});
  outcome_.last_served = std::max(outcome_.last_served, served);
  return served;
}

// The same where a bystander may have sent to it too.
std::int32_t RingCorrection::serve(std::int32_t from, std::int32_t to, std::int32_t slot) {
  const std::int32_t rival = slot == reaction_ ? bystander_that_sends_to(to) : -1;
  if (rival < 0) return serve(to, slot);
  // At most one, and then nothing else.
  const std::int32_t first = serve(to, slot);
  const std::int32_t second = serve(to, slot);
  if (coloring_->is_colored(to)) expect_bystander(to, rival < from ? first : second);
  return rival < from ? second : first;
}

void RingCorrection::expect(std::int32_t to, Side side, std::int32_t distance,
                            std::int32_t served) {
  if (!sending_.contains(to)) return;
  const std::int32_t at = border_at_[static_cast<std::size_t>(to)];
  Border& border = borders_[static_cast<std::size_t>(at)];
  // What is served later and comes from farther away has nothing to tell. (A bystander may be
  // expected before somebody who is served first; it is the farther one.)
  std::int32_t& nearest = side == Side::left ? border.left_nearest : border.right_nearest;
  if (distance >= nearest) return;
  nearest = distance;
  const auto known = static_cast<std::size_t>(served + reaction_);
  if (known >= hearings_.size()) hearings_.resize(known + 1);
  hearings_[known].push_back({at, side, distance});
}

// The bystander that sends to `to` in slot `reaction`; -1: there is none.
std::int32_t RingCorrection::bystander_that_sends_to(std::int32_t to) const {
  if (!bystanders_send_) return -1;
  const std::int32_t from =
      neighbor(to, {opposite(bystanders_send_->side), bystanders_send_->distance});
  return is_bystander(from) ? from : -1;
}

void RingCorrection::expect_bystander(std::int32_t to, std::int32_t served) {
  expect(to, opposite(bystanders_send_->side), bystanders_send_->distance, served);
}

// Slot `reaction`, as far as no border's message goes to the same process.
void RingCorrection::listen_to_bystanders() {
  if (is_checked()) return;  // they reach nobody to whom nobody nearer has sent before
  for (const Border& border : borders_)
    if (port_free_[static_cast<std::size_t>(border.rank)] < epoch_ &&
        bystander_that_sends_to(border.rank) >= 0)
      expect_bystander(border.rank, reaction_);
  unreached_.for_each_word([this](std::size_t at) {
    for (std::uint64_t left = unreached_.word(at); left != 0; left &= left - 1) {
      const auto rank = static_cast<std::int32_t>(at * 64) + std::countr_zero(left);
      if (bystander_that_sends_to(rank) >= 0) reach(rank, reaction_);
    }
  });
}

// Borders' last messages are the last of all, if there are any that reach somebody. If not, looks
// for the last slot in which somebody alive is sent to: most of the time the first look finds one.
void RingCorrection::settle_quiescence(std::int32_t slots) {
  for (std::int32_t slot = slots; slot >= 0 && slot > outcome_.last_served; --slot) {
    const bool is_reaction = slot == slots;
    if (is_reaction && !bystanders_send_) continue;
    const Send sent = is_reaction ? *bystanders_send_ : uninformed(slot);
    for (std::int32_t rank = 0; rank < procs_; ++rank) {
      if (is_reaction ? !is_bystander(rank) : !coloring_->is_colored(rank)) continue;
      if (coloring_->is_dead(neighbor(rank, sent))) {
        outcome_.last_lost = std::max(outcome_.last_lost, slot);
      } else {
        outcome_.last_served = slot;
        break;
      }
    }
  }
}

}  // namespace resprout::sim
