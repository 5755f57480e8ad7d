// How long a process has been silent, fairly measured: time in which the listener itself was kept
// from running is nobody's silence (local health, as in Lifeguard, Dadgar et al. 2018).
//
// Thread rule: a value.
#pragma once

#include <algorithm>

#include "core/time.hpp"

namespace resprout::protocols {

class Silence {
 public:
  void start(Time now) { since_ = now; }
  void handle_sound(Time now) { since_ = std::max(since_, now); }
  // The listener ran `late` after the time that it had asked for.
  void forgive(Time now, Duration late) { since_ = std::min(now, since_ + late); }
  Duration length(Time now) const { return now - since_; }
  // When it will have lasted for `duration`.
  Time reaches(Duration duration) const { return since_ + duration; }

 private:
  Time since_{};
};

}  // namespace resprout::protocols
