// See coloring.hpp.
#include "sim/checkers/coloring.hpp"

#include <algorithm>

#include "topology/ring.hpp"

namespace resprout::sim {

using protocols::CorrectedTreeConfig;
using protocols::Correction;
using protocols::CorrectionRules;
using protocols::Heed;
using protocols::Sides;

namespace {

// The longest gap that an opportunistic correction fills.
std::int32_t longest_filled(const CorrectionRules& rules, std::int32_t procs) {
  if (rules.kind == Correction::none) return 0;
  if (rules.sides == Sides::right) return rules.distance;
  const bool relies_on_both_sides =
      rules.kind == Correction::optimized_opportunistic && rules.heed == Heed::both;
  const bool goes_round = 2 * std::int64_t{rules.distance} >= procs;
  if (relies_on_both_sides && rules.distance > 1) return 0;
  // Who relies on the right neighbor must not find itself there.
  if (rules.kind == Correction::optimized_opportunistic && rules.distance > 1 && goes_round)
    return 0;
  return goes_round ? procs : 2 * rules.distance;
}

}  // namespace

std::int32_t gap_of(const CorrectedTreeConfig& config, std::uint64_t dead) {
  const auto rank_of = [&](std::int32_t place) {
    return topology::ring_neighbor(place, index(config.root), config.procs);
  };
  std::uint64_t reached = 0;
  for (std::int32_t place = 0; place < config.procs; ++place) {  // parents come first
    const std::int32_t rank = rank_of(place);
    const bool is_sent_to = place == 0 || (reached >> rank_of(config.tree.parent(place)) & 1) != 0;
    if (is_sent_to && (dead >> rank & 1) == 0) reached |= std::uint64_t{1} << rank;
  }
  std::int32_t longest = 0;
  std::int32_t run = 0;
  for (std::int32_t i = 0; i < 2 * config.procs; ++i) {  // twice round: a run may go over the end
    run = (reached >> (i % config.procs) & 1) != 0 ? 0 : run + 1;
    longest = std::max(longest, run);
  }
  return std::min(longest, config.procs);
}

bool must_color_everybody(const CorrectedTreeConfig& config, std::uint64_t dead, int crashes) {
  if (protocols::tolerated_failures(config.correction) >= crashes) return true;
  // What is left is about gaps. Where correction starts by a clock, whom it colors does not
  // disseminate, so gaps are as long as messages are late.
  if (crashes > 0 || config.start == protocols::StartMode::synchronized) return false;
  const std::int32_t gap = gap_of(config, dead);
  const bool all_correct = config.early == protocols::EarlyPolicy::join;
  return gap == 0 || (all_correct && gap <= longest_filled(config.correction, config.procs));
}

}  // namespace resprout::sim
