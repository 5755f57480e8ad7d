// Failure-proof correction: checked correction that waits for several senders on each side.
//
// Named in Corrected Trees, section 3.1, and derived in
// docs/explanation/protocols/failure_proof.md: a process that hears from `witnesses` different
// senders on a side, and has sent at least as far as the farthest of them, has done its part there.
// Who stays uncolored then has as many dead correctors on each side; so 2 * witnesses - 1 of them
// may die meanwhile, their last messages lost.
//
// Invariants
//  1. Nobody sends to the same process twice in one direction, so that messages from one side are
//     from different senders.
//  2. The witnesses of a side are the first that were heard there, and never change: what is kept
//     of them is their number and the farthest.
// Thread rule: a value.
#pragma once

#include <algorithm>

#include "protocols/correction/rules.hpp"

namespace resprout::protocols {

class FailureProof {
 public:
  explicit constexpr FailureProof(const CorrectionRules&) {}

  void join(const RingView&) {}
  void hear(const RingView& view, Direction going, std::int32_t distance) {
    Side& side = going == Direction::right ? left_ : right_;
    if (side.heard == witnesses(view.rules)) return;
    ++side.heard;
    side.farthest = std::max(side.farthest, distance);
  }

  std::int32_t next(const RingView& view) {
    if (reach_.covers(view.procs)) return 0;
    const bool is_left_open = !left_.is_done(view.rules, reach_.left);
    const bool is_right_open = !right_.is_done(view.rules, reach_.right);
    if (is_left_open && (reach_.left <= reach_.right || !is_right_open))
      return reach_.extend(Direction::left);
    return is_right_open ? reach_.extend(Direction::right) : 0;
  }

  void handle_timeout(const RingView&) {}
  Deadline deadline(const RingView&) const { return {}; }

 private:
  static constexpr std::int32_t witnesses(const CorrectionRules& rules) {
    return rules.failures / 2 + 1;
  }

  struct Side {
    std::int32_t heard = 0;
    std::int32_t farthest = 0;

    constexpr bool is_done(const CorrectionRules& rules, std::int32_t sent) const {
      return heard == witnesses(rules) && sent >= farthest;
    }
  };

  Reach reach_;
  Side left_;
  Side right_;
};

static_assert(RingCorrection<FailureProof>);

}  // namespace resprout::protocols
