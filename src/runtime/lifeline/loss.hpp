// What the lifeline finds out of a process that is lost.
#pragma once

#include <cstdint>

namespace resprout::runtime {

enum class LossKind : std::uint8_t {
  exited,       // it died or ended without a goodbye
  hung,         // it was alive but stopped or stuck, and was ended
  unreachable,  // nothing is heard of it, and nobody on its host answers
  cut_off,      // it lives, but a data link of it is silent
};

// A kernel has seen the end of the process.
constexpr bool is_proven(LossKind kind) {
  return kind == LossKind::exited || kind == LossKind::hung;
}

struct Loss {
  int rank = -1;
  LossKind kind = LossKind::exited;
  int found_by = -1;             // world rank
  std::int64_t detected_ns = 0;  // CLOCK_REALTIME, at the finder
};

}  // namespace resprout::runtime
