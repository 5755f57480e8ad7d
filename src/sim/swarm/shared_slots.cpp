// Random programs over shared slots, and what they promise.
#include <numeric>

#include "sim/shared_slots/world.hpp"
#include "sim/swarm/draw.hpp"
#include "sim/swarm/protocols.hpp"

namespace resprout::sim {
namespace {

using Kind = SlotOperation::Kind;

// Most programs have much of one kind and little of others.
std::vector<SlotOperation> draw_program(Random& random, int procs) {
  std::array<std::uint64_t, 7> weights{};
  for (auto& weight : weights) weight = std::uint64_t{1} << (2 * random.below(4));
  const std::uint64_t total = std::accumulate(weights.begin(), weights.end(), std::uint64_t{0});
  std::vector<SlotOperation> program(1 + random.below(slot_operations_bound - 1));
  for (SlotOperation& operation : program) {
    std::uint64_t drawn = random.below(total);
    std::size_t kind = 0;
    while (drawn >= weights[kind]) drawn -= weights[kind++];
    operation.kind = static_cast<Kind>(kind);
    operation.root = static_cast<std::uint8_t>(random.below(static_cast<std::uint64_t>(procs)));
  }
  return program;
}

}  // namespace

RunReport run_shared_slots(std::uint64_t seed, std::ostream* trace) {
  Random random(seed);
  const int procs =
      static_cast<int>(random.chance(2, 3) ? 1 + random.below(6) : 7 + random.below(10));
  SharedSlotsScene scene;
  const std::uint32_t broadcast_slots = std::uint32_t{1} << random.below(4);
  scene.config = {procs, broadcast_slots, 2, std::int32_t{2} << random.below(4)};
  scene.program = draw_program(random, procs);
  scene.may_be_revoked = random.chance(1, 8);
  scene.runs_again = random.chance(1, 2);
  scene.broadcasts_leave_out = random.chance(1, 2);
  scene.lacks_area = random.chance(1, 16);
  const FaultPlan plan = draw_fault_plan(random, procs);
  if (trace != nullptr)
    *trace << procs << " members, " << scene.config.broadcast_slots << " slots for broadcasts, "
           << "groups of " << scene.config.group << ", " << scene.program.size()
           << " operations, seed " << seed << '\n';
  SharedSlotsWorld world(scene);
  return run_world(world, random, plan, 0, trace, check_shared_slots);
}

}  // namespace resprout::sim
