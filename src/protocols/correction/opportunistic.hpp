// Opportunistic correction: `distance` messages to each side, or to the right only; first right,
// then in turns.
//
// Corrected Trees, section 3.1. It colors everybody if no gap is longer than it reaches: 2 *
// distance to both sides, distance to one.
// Thread rule: a value.
#pragma once

#include "protocols/correction/rules.hpp"

namespace resprout::protocols {

// Whom the opportunistic corrections send to next, 0: nobody any more. A side can be done early.
constexpr std::int32_t next_opportunistic(const RingView& view, Reach& reach, bool is_left_done,
                                          bool is_right_done) {
  if (reach.covers(view.procs)) return 0;
  const bool is_left_open =
      !is_left_done && view.rules.sides == Sides::both && reach.left < view.rules.distance;
  const bool is_right_open = !is_right_done && reach.right < view.rules.distance;
  if (is_right_open && (reach.right <= reach.left || !is_left_open))
    return reach.extend(Direction::right);
  return is_left_open ? reach.extend(Direction::left) : 0;
}

class Opportunistic {
 public:
  explicit constexpr Opportunistic(const CorrectionRules&) {}

  void join(const RingView&) {}
  void hear(const RingView&, Direction, std::int32_t) {}
  std::int32_t next(const RingView& view) { return next_opportunistic(view, reach_, false, false); }
  void handle_timeout(const RingView&) {}
  Deadline deadline(const RingView&) const { return {}; }

 private:
  Reach reach_;
};

static_assert(RingCorrection<Opportunistic>);

}  // namespace resprout::protocols
