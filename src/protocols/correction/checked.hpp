// Checked correction: to each side until somebody was reached there who has been heard from; first
// left, then in turns while both sides are open.
//
// Corrected Trees, section 3.1. It colors everybody, whatever failed before it; and also if one of
// those who correct dies meanwhile (docs/explanation/protocols/failure_proof.md).
//
// Invariant: a side that is closed stays closed: what was sent only grows, the nearest sender heard
// only comes nearer.
// Thread rule: a value.
#pragma once

#include "protocols/correction/rules.hpp"

namespace resprout::protocols {

class Checked {
 public:
  explicit constexpr Checked(const CorrectionRules&) {}

  void join(const RingView&) {}
  void hear(const RingView&, Direction going, std::int32_t distance) {
    std::int32_t& heard = going == Direction::right ? left_heard_ : right_heard_;
    if (distance < heard) heard = distance;
  }

  std::int32_t next(const RingView& view) {
    if (reach_.covers(view.procs)) return 0;
    const bool is_left_open = reach_.left < left_heard_;
    const bool is_right_open = reach_.right < right_heard_;
    if (is_left_open && (reach_.left <= reach_.right || !is_right_open))
      return reach_.extend(Direction::left);
    return is_right_open ? reach_.extend(Direction::right) : 0;
  }

  void handle_timeout(const RingView&) {}
  Deadline deadline(const RingView&) const { return {}; }

 private:
  Reach reach_;
  std::int32_t left_heard_ = nobody;  // distance of the nearest sender heard from there
  std::int32_t right_heard_ = nobody;
};

static_assert(RingCorrection<Checked> && sizeof(Checked) == 16);

}  // namespace resprout::protocols
