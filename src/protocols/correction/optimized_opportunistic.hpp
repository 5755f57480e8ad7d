// Optimized opportunistic correction: a process leaves to a neighbor what that neighbor covers.
//
// Corrected Trees, section 3.3. Who hears from x places away sends nothing more to that side, and
// its first distance - x offsets on the other side count as sent.
//
// With `Heed::both` two neighbors may leave the same process to each other, so that it needs
// distance 1 to keep opportunistic correction's promise. With `Heed::right`, and if all send to the
// right only, everybody relies on neighbors on one side, and it keeps it for every distance below
// half of the ring. docs/reference/errata.md has the argument.
// Thread rule: a value.
#pragma once

#include <algorithm>

#include "protocols/correction/opportunistic.hpp"

namespace resprout::protocols {

class OptimizedOpportunistic {
 public:
  explicit constexpr OptimizedOpportunistic(const CorrectionRules&) {}

  void join(const RingView&) {}
  void hear(const RingView& view, Direction going, std::int32_t distance) {
    if (view.rules.sides == Sides::both && view.rules.heed == Heed::right &&
        going == Direction::right)
      return;
    heard_ |= bit(going);
    std::int32_t& behind_us = going == Direction::right ? reach_.right : reach_.left;
    behind_us = std::max(behind_us, view.rules.distance - distance);
  }

  std::int32_t next(const RingView& view) {
    return next_opportunistic(view, reach_, (heard_ & bit(Direction::right)) != 0,
                              (heard_ & bit(Direction::left)) != 0);
  }

  void handle_timeout(const RingView&) {}
  Deadline deadline(const RingView&) const { return {}; }

 private:
  static constexpr std::uint32_t bit(Direction going) {
    return std::uint32_t{1} << static_cast<std::uint32_t>(going);
  }

  Reach reach_;
  std::uint32_t heard_ = 0;  // which ways the messages went that were heeded
};

static_assert(RingCorrection<OptimizedOpportunistic>);

}  // namespace resprout::protocols
