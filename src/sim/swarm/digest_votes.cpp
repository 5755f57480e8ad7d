// Random exchanges of a replicated message, and what they promise.
#include "sim/digest_vote/world.hpp"
#include "sim/swarm/draw.hpp"
#include "sim/swarm/protocols.hpp"

namespace resprout::sim {

RunReport run_digest_vote(std::uint64_t seed, std::ostream* trace) {
  static constexpr const char* methods[] = {"all-to-all", "msg-plus-hash", "async", "async-hash"};
  Random random(seed);
  const protocols::DigestVoteConfig config{
      static_cast<protocols::VoteMethod>(random.below(std::size(methods))),
      static_cast<std::int32_t>(2 + random.below(2)),
      random.chance(1, 2) ? protocols::Unproven::own : protocols::Unproven::first};
  DigestVoteScene scene;
  scene.may_corrupt = random.chance(3, 4);
  scene.sends_at_once = random.chance(1, 2);
  const FaultPlan plan = draw_fault_plan(random, config.procs());
  if (trace != nullptr)
    *trace << methods[static_cast<int>(config.method)] << ", degree " << config.degree
           << (config.unproven == protocols::Unproven::own ? ", own copies first" : "")
           << (scene.may_corrupt ? ", something may be corrupted" : "") << ", seed " << seed
           << '\n';
  DigestVoteWorld world(config, scene);
  return run_world(world, random, plan, 0, trace, [](std::span<const DigestVoteOutcome> outcomes) {
    return check_digest_vote(outcomes);
  });
}

}  // namespace resprout::sim
