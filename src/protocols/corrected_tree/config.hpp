// What a corrected tree broadcast is told: the same for all ranks, shared by their machines.
#pragma once

#include <cstdint>

#include "core/rank.hpp"
#include "core/time.hpp"
#include "topology/tree.hpp"

namespace resprout::protocols {

enum class Correction : std::uint8_t {
  none,
  opportunistic,            // `distance` to each side
  optimized_opportunistic,  // less where a neighbor covers it
  checked,                  // until somebody is heard of from each side
};

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
  Correction correction = Correction::checked;
  std::int32_t distance = 4;  // to each side; for the opportunistic corrections
  StartMode start = StartMode::overlapped;
  Time correction_start{};  // of a synchronized start
  EarlyPolicy early = EarlyPolicy::join;
};

}  // namespace resprout::protocols
