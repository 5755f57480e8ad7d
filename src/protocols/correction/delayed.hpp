// Delayed correction: one message to the left; to the right only if, after a delay, nobody has been
// heard from there.
//
// Corrected Trees, section 3.3; docs/explanation/protocols/delayed.md says why it colors everybody.
// Without failures each process sends one message. The delay begins with that message; but who has
// spent as long on its tree messages has waited enough. It is no failure detector: if it is too
// short messages are sent for nothing, if it is long gaps are filled late.
//
// Invariants
//  1. Each process that takes part answers for its right side: it sends there, offset by offset,
//     until somebody to the right answers, or the ring is covered.
//  2. Only who takes part answers, so that behind an answer somebody else answers for the rest.
//  3. Of several who wait for an answer the nearest gets it. It answers the others, or they are
//     passed on: an answer that is not sent costs messages, not colors.
// Thread rule: a value.
#pragma once

#include <algorithm>

#include "protocols/correction/rules.hpp"

namespace resprout::protocols {

class Delayed {
 public:
  explicit constexpr Delayed(const CorrectionRules&) {}

  void join(const RingView& view) { until_ = view.now + view.rules.delay; }

  void hear(const RingView&, Direction going, std::int32_t distance) {
    if (going == Direction::left)
      right_ = Right::answered;
    else if (distance > 1 || has_sent_left_ == 0)  // the left neighbor has been sent to already
      asks_ = std::min(asks_, distance);
  }

  std::int32_t next(const RingView& view) {
    if (asks_ != nobody) return answer(view);
    if (has_sent_left_ == 0) return view.procs > 1 ? send_left(view) : 0;
    if (right_ != Right::sending) return 0;
    return 1 + sent_right_ < view.procs - 1 ? ++sent_right_ : 0;
  }

  void handle_timeout(const RingView& view) {
    if (right_ == Right::waiting && view.now >= until_) right_ = Right::sending;
  }

  Deadline deadline(const RingView&) const {
    if (right_ != Right::waiting) return {};
    return {until_, "a correction from the right neighbor"};
  }

 private:
  // What is done about the right side: nothing yet; corrections; nothing any more.
  enum class Right : std::int32_t { waiting, sending, answered };

  std::int32_t answer(const RingView& view) {
    const std::int32_t distance = asks_;
    asks_ = nobody;
    return distance == 1 ? send_left(view) : -distance;
  }

  std::int32_t send_left(const RingView& view) {
    has_sent_left_ = 1;
    until_ = view.now + view.rules.delay;
    return -1;
  }

  Time until_{};                 // of the delay
  std::int32_t sent_right_ = 0;  // how far
  std::int32_t asks_ = nobody;   // distance of who waits for an answer, on the left
  std::int32_t has_sent_left_ = 0;
  Right right_ = Right::waiting;
};

static_assert(RingCorrection<Delayed>);

}  // namespace resprout::protocols
