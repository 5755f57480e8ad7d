// How far a process may trust its own judgement of others: the local health of Lifeguard (Dadgar,
// Phillips and Currey, "Lifeguard: Local Health Awareness for More Accurate Failure Detection",
// 2018, section IV-A).
//
// A process that is starved hears late, is heard late, and takes others for silent. It notices that
// by its own deadlines: each that is served late makes its health worse, and so does each
// accusation of itself that it lives to hear; each deadline that is served in time makes it better.
// While its health is bad it is patient: all of its timeouts for others are multiplied by 1 +
// score.
//
// Invariant: 0 <= score <= worst. So a true failure is found at most 1 + worst times as late, and
// by a healthy process as early as without the score.
//
// Thread rule: a value.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/time.hpp"

namespace resprout::protocols {

// So late was a deadline served that comes every `period`; 0: no more than the scheduler's ordinary
// grain.
constexpr Duration starved_for(Duration late, Duration period) {
  return late > period / 2 ? late : 0;
}

class LocalHealth {
 public:
  static constexpr std::uint32_t worst = 8;  // the paper's S

  constexpr void handle_deadline(bool is_late) {
    if (is_late)
      score_ = std::min(score_ + 1, worst);
    else
      score_ -= score_ == 0 ? 0 : 1;
  }
  // Others do not hear this process.
  constexpr void handle_accusation() { handle_deadline(true); }

  // What `patience` is for a process of this health.
  constexpr Duration stretch(Duration patience) const { return patience * (1 + score_); }
  constexpr std::uint32_t score() const { return score_; }

 private:
  std::uint32_t score_ = 0;
};

}  // namespace resprout::protocols
