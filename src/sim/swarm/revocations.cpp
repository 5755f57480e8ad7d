// Random revocations, and what they promise.
#include "sim/checkers/revocation.hpp"
#include "sim/revoke/revoker.hpp"
#include "sim/swarm/draw.hpp"
#include "sim/swarm/protocols.hpp"

namespace resprout::sim {
namespace {

// Mostly one, sometimes nobody, some, or most.
std::uint64_t draw_initiators(Random& random, RevokerConfig& config) {
  std::uint64_t mask = 0;
  const std::uint64_t share = random.chance(1, 4) ? 1 + random.below(8) : 0;
  const Rank one = draw_rank(random, config.revoke.procs);
  const bool is_anybody = !random.chance(1, 16);
  for (std::int32_t rank = 0; rank < config.revoke.procs; ++rank) {
    if ((rank_at(rank) != one || !is_anybody) && !random.chance(share, 8)) continue;
    config.initiators.push_back({rank_at(rank), Time{0}});
    mask |= std::uint64_t{1} << rank;
  }
  return mask;
}

}  // namespace

RunReport run_revoke(std::uint64_t seed, std::ostream* trace) {
  Random random(seed);
  const int procs = draw_procs(random);
  RevokerConfig config{{procs, !random.chance(1, 4)}, {}};
  const std::uint64_t initiators = draw_initiators(random, config);
  const FaultPlan plan = draw_fault_plan(random, procs);
  if (trace != nullptr)
    *trace << "revoke of " << procs << " by " << config.initiators.size()
           << (config.revoke.closes_ring ? "" : ", ring left open") << ", seed " << seed << '\n';
  const int first = config.initiators.empty() ? 0 : index(config.initiators.front().rank);
  const Reach reach = config.revoke.closes_ring ? Reach::detector : Reach::graph;
  World world(make_machines<Revoker>(config, procs),
              std::vector<Payload>(static_cast<std::size_t>(procs)), 0);
  return run_world(world, random, plan, first, trace, [&](std::span<const Outcome> outcomes) {
    if (initiators == 0 && world.messages_sent() != 0)
      return Verdict("there were messages, and nobody has revoked");
    return check_revocation(outcomes, initiators, reach);
  });
}

}  // namespace resprout::sim
