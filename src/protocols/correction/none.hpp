// No correction.
// Thread rule: a value.
#pragma once

#include "protocols/correction/rules.hpp"

namespace resprout::protocols {

struct NoCorrection {
  explicit constexpr NoCorrection(const CorrectionRules&) {}

  void join(const RingView&) {}
  void hear(const RingView&, Direction, std::int32_t) {}
  std::int32_t next(const RingView&) { return 0; }
  void handle_timeout(const RingView&) {}
  Deadline deadline(const RingView&) const { return {}; }
};

static_assert(RingCorrection<NoCorrection>);

}  // namespace resprout::protocols
