// Random reductions and FTCO broadcasts, and what they promise.
#include <algorithm>
#include <bit>

#include "protocols/agreement/agreement.hpp"
#include "protocols/corrected_reduce/corrected_reduce.hpp"
#include "protocols/ftco_allreduce/ftco_allreduce.hpp"
#include "protocols/native_until_loss/native_until_loss.hpp"
#include "protocols/patient_allreduce/patient_allreduce.hpp"
#include "sim/checkers/agreement.hpp"
#include "sim/swarm/draw.hpp"
#include "sim/swarm/protocols.hpp"

namespace resprout::sim {

namespace {

// Any of the forests there are; half of the time the one of real programs.
void draw_forest(Random& random, protocols::FtcoAllreduceConfig& config) {
  if (random.chance(1, 2)) return;
  config.shape = static_cast<topology::RangeShape>(random.below(3));
}

void draw_roots(Random& random, protocols::FtcoAllreduceConfig& config) {
  if (random.chance(1, 2)) return;
  const auto bound = static_cast<std::uint64_t>(std::min(config.procs, 8));
  config.roots = static_cast<std::int32_t>(1 + random.below(bound));
  if (random.chance(2, 3)) return;
  config.is_doubling = true;
  const auto procs = static_cast<std::uint32_t>(config.procs);
  config.roots = static_cast<std::int32_t>(std::bit_floor(1 + random.below(procs)));
}

// Coordinators that fall need rounds, and a few processes each.
void draw_falls(Random& random, int procs, FaultPlan& plan) {
  if (procs < 4 || plan.dead_at_start > 0 || !random.chance(1, 6)) return;
  plan.falls = static_cast<int>(1 + random.below(3));
  plan.mischief.crashes = 0;
}

}  // namespace

RunReport run_allreduce(std::uint64_t seed, std::ostream* trace) {
  Random random(seed);
  const int procs = draw_procs(random);
  protocols::FtcoAllreduceConfig config{procs, draw_radix(random), Rank{0}, true};
  FaultPlan plan = draw_fault_plan(random, procs);
  draw_forest(random, config);
  draw_roots(random, config);
  if (random.chance(1, 4)) config.root = draw_rank(random, procs);
  draw_falls(random, procs, plan);
  if (trace != nullptr)
    *trace << "ftco-allreduce of " << procs << ", radix " << config.radix << ", " << config.roots
           << (config.is_doubling ? " doubling" : "") << " roots, the first " << index(config.root)
           << ", seed " << seed << '\n';
  const bool is_in_order = config.roots == 1 && config.root == Rank{0};
  const Folding folding = is_in_order ? Folding::in_order : Folding::once;
  World world(make_machines<protocols::FtcoAllreduce>(config, procs), own_inputs(procs, 0), 0,
              folding);
  return run_world(world, random, plan, 0, trace, check_allreduce);
}

RunReport run_native_until_loss(std::uint64_t seed, std::ostream* trace) {
  Random random(seed);
  const int procs = draw_procs(random);
  const protocols::NativeUntilLossConfig config(procs, draw_radix(random));
  const FaultPlan plan = draw_fault_plan(random, procs);
  if (trace != nullptr)
    *trace << "native-until-loss of " << procs << ", radix " << config.redo.radix << ", seed "
           << seed << '\n';
  World world(make_machines<protocols::NativeUntilLoss>(config, procs), own_inputs(procs, 0), 0);
  return run_world(world, random, plan, 0, trace, check_allreduce);
}

// Some calls never come. Somebody calls and lives: else nothing would begin.
RunReport run_patient_allreduce(std::uint64_t seed, std::ostream* trace) {
  Random random(seed);
  const int procs = draw_procs(random);
  const auto patience = static_cast<Duration>(random.below(3));
  const protocols::PatientAllreduceConfig config(procs, draw_radix(random), patience);
  const FaultPlan plan = draw_fault_plan(random, procs);
  World world(make_machines<protocols::PatientAllreduce>(config, procs), own_inputs(procs, 0), 0);
  const int away_max = procs - 1 - plan.dead_at_start - plan.mischief.crashes;
  const auto away = static_cast<int>(random.below(static_cast<std::uint64_t>(away_max) + 1));
  if (trace != nullptr)
    *trace << "patient-allreduce of " << procs << ", radix " << config.allreduce.radix
           << ", patience " << patience << ", " << away << " may never call, seed " << seed << '\n';
  for (int rank = 0; rank < procs; ++rank)
    world.apply({ActionKind::enter, static_cast<std::uint8_t>(rank)});
  for (int i = 0; i < away && random.chance(1, 2); ++i)
    world.keep_away(index(draw_rank(random, procs)));
  return run_world(world, random, plan, 0, trace, check_allreduce);
}

RunReport run_agree(std::uint64_t seed, std::ostream* trace) {
  Random random(seed);
  const int procs = draw_procs(random);
  const protocols::AgreementConfig config{procs, draw_radix(random)};
  const FaultPlan plan = draw_fault_plan(random, procs);
  if (trace != nullptr)
    *trace << "agree of " << procs << ", radix " << config.radix << ", seed " << seed << '\n';
  World world(make_machines<protocols::Agreement>(config, procs), own_inputs(procs, 0), 0);
  const std::vector<Given> given = various_opinions(procs);
  return run_world(world, random, plan, 0, trace, [&](std::span<const Outcome> outcomes) {
    return check_agreement(outcomes, given);
  });
}

RunReport run_ftco_broadcast(std::uint64_t seed, std::ostream* trace) {
  Random random(seed);
  const int procs = draw_procs(random);
  protocols::FtcoAllreduceConfig config{procs, draw_radix(random), draw_rank(random, procs), true};
  config.is_broadcast = true;
  const FaultPlan plan = draw_fault_plan(random, procs);
  draw_forest(random, config);
  const int root = index(config.root);
  if (trace != nullptr)
    *trace << "ftco-broadcast to " << procs << " from " << root << ", radix " << config.radix
           << ", seed " << seed << '\n';
  World world(make_machines<protocols::FtcoAllreduce>(config, procs), root_input(procs, root), 0);
  return run_world(world, random, plan, root, trace, [root](std::span<const Outcome> outcomes) {
    return check_reliable_broadcast(outcomes, static_cast<std::size_t>(root));
  });
}

RunReport run_reduce(std::uint64_t seed, std::ostream* trace) {
  Random random(seed);
  const int procs = draw_procs(random);
  protocols::FtcoAllreduceConfig config{procs, draw_radix(random), draw_rank(random, procs), false};
  const FaultPlan plan = draw_fault_plan(random, procs);
  draw_forest(random, config);
  const int root = index(config.root);
  if (trace != nullptr)
    *trace << "ftco-reduce of " << procs << " to " << root << ", radix " << config.radix
           << ", seed " << seed << '\n';
  World world(make_machines<protocols::FtcoAllreduce>(config, procs), own_inputs(procs, root),
              root);
  return run_world(world, random, plan, root, trace, check_reduce);
}

// Whose inputs the root gets is a matter of time, and here there is none: that is checked in the
// LogP world.
RunReport run_corrected_reduce(std::uint64_t seed, std::ostream* trace) {
  Random random(seed);
  const int procs = draw_procs(random);
  const registry::OwnedTree tree = draw_tree(random, procs);
  protocols::CorrectedReduceConfig config{
      .tree = tree.tree, .procs = procs, .root = draw_rank(random, procs)};
  config.correction.distance = static_cast<std::int32_t>(1 + random.below(5));
  config.tree_time = static_cast<Duration>(random.below(40));
  config.hop = static_cast<Duration>(1 + random.below(5));
  config.spacing = 1;
  FaultPlan plan = draw_fault_plan(random, procs);
  plan.mischief.suspects_the_living = false;
  const int root = index(config.root);
  if (trace != nullptr)
    *trace << "corrected-reduce of " << procs << " to " << root << ", distance "
           << config.correction.distance << ", seed " << seed << '\n';
  World world(make_machines<protocols::CorrectedReduce>(config, procs), own_inputs(procs, root),
              root, Folding::freely);
  return run_world(world, random, plan, root, trace, check_timed_reduce);
}

}  // namespace resprout::sim
