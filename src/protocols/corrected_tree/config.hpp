// What a corrected tree broadcast is told: the same for all ranks, shared by their machines.
#pragma once

#include <cstdint>

#include "core/rank.hpp"
#include "core/time.hpp"
#include "protocols/correction/rules.hpp"
#include "topology/tree.hpp"

namespace resprout::protocols {

enum class StartMode : std::uint8_t {
  synchronized,  // correction starts at `correction_start` everywhere; needs a common clock
  overlapped,    // right after a process's last tree message
};

// What a process does whose first message was a correction, with an overlapped start. It sends its
// tree messages in any case.
enum class EarlyPolicy : std::uint8_t {
  join,     // it corrects like everybody
  abstain,  // it does not
};

struct CorrectedTreeConfig {
  topology::Tree tree;
  std::int32_t procs;      // as the tree's
  Rank root = rank_at(0);  // rank 0 of the tree; the others follow it on the ring
  CorrectionRules correction{};
  StartMode start = StartMode::overlapped;
  Time correction_start{};  // of a synchronized start
  EarlyPolicy early = EarlyPolicy::join;

  bool needs_common_clock() const { return start == StartMode::synchronized; }
};

}  // namespace resprout::protocols
