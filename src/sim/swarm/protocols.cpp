// The protocols that the swarm knows: how a random instance of each is drawn, and what it promises.
#include <algorithm>
#include <vector>

#include "protocols/corrected_tree/corrected_tree.hpp"
#include "protocols/ftco_allreduce/ftco_allreduce.hpp"
#include "protocols/reliable_broadcast/reliable_broadcast.hpp"
#include "sim/swarm/run.hpp"

namespace resprout::sim {
namespace {

// Half of all runs have at most 8 processes: that is where the worlds are searched most densely.
int draw_procs(Random& random) {
  if (random.chance(1, 2)) return static_cast<int>(1 + random.below(8));
  if (random.chance(2, 3)) return static_cast<int>(9 + random.below(16));
  return static_cast<int>(25 + random.below(40));
}

Rank draw_rank(Random& random, int procs) {
  return rank_at(static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(procs))));
}

std::int32_t draw_radix(Random& random) {
  return static_cast<std::int32_t>(2 + random.below(random.chance(1, 2) ? 1 : 7));
}

template <Machine M, typename Config>
std::vector<M> make_machines(const Config& config, int procs) {
  std::vector<M> machines;
  for (std::int32_t rank = 0; rank < procs; ++rank) machines.emplace_back(config, rank_at(rank));
  return machines;
}

// Each process's own bit, at its position in the order of folding.
std::vector<Payload> own_inputs(int procs, int fold_root) {
  std::vector<Payload> inputs(static_cast<std::size_t>(procs));
  for (int i = 0; i < procs; ++i)
    inputs[static_cast<std::size_t>((fold_root + i) % procs)].contributors = std::uint64_t{1} << i;
  return inputs;
}

RunReport run_allreduce(std::uint64_t seed, std::ostream* trace) {
  Random random(seed);
  const int procs = draw_procs(random);
  const protocols::FtcoAllreduceConfig config{procs, draw_radix(random), Rank{0}, true};
  const FaultPlan plan = draw_fault_plan(random, procs);
  if (trace != nullptr)
    *trace << "ftco-allreduce of " << procs << ", radix " << config.radix << ", seed " << seed
           << '\n';
  World world(make_machines<protocols::FtcoAllreduce>(config, procs), own_inputs(procs, 0), 0);
  return run_world(world, random, plan, 0, trace, check_allreduce);
}

RunReport run_reduce(std::uint64_t seed, std::ostream* trace) {
  Random random(seed);
  const int procs = draw_procs(random);
  const protocols::FtcoAllreduceConfig config{procs, draw_radix(random), draw_rank(random, procs),
                                              false};
  const FaultPlan plan = draw_fault_plan(random, procs);
  const int root = index(config.root);
  if (trace != nullptr)
    *trace << "ftco-reduce of " << procs << " to " << root << ", radix " << config.radix
           << ", seed " << seed << '\n';
  World world(make_machines<protocols::FtcoAllreduce>(config, procs), own_inputs(procs, root),
              root);
  return run_world(world, random, plan, root, trace, check_reduce);
}

protocols::CorrectedTreeConfig draw_tree(Random& random, int procs) {
  constexpr topology::Shape shapes[] = {topology::Shape::binomial, topology::Shape::kary,
                                        topology::Shape::knomial};
  const topology::Shape shape = shapes[random.below(3)];
  const auto numbering =
      random.chance(1, 2) ? topology::Numbering::interleaved : topology::Numbering::in_order;
  protocols::CorrectedTreeConfig config{topology::Tree(shape, numbering, draw_radix(random), procs),
                                        procs};
  config.root = draw_rank(random, procs);
  config.correction = static_cast<protocols::Correction>(random.below(4));
  config.distance = static_cast<std::int32_t>(1 + random.below(5));
  config.start = static_cast<protocols::StartMode>(random.below(2));
  config.correction_start = Time{static_cast<std::int64_t>(random.below(100))};
  config.early = static_cast<protocols::EarlyPolicy>(random.below(2));
  return config;
}

void describe(std::ostream& out, const protocols::CorrectedTreeConfig& config) {
  constexpr const char* corrections[] = {"none", "opportunistic", "optimized opportunistic",
                                         "checked"};
  out << config.procs << " from " << index(config.root) << ", correction "
      << corrections[static_cast<int>(config.correction)] << ", distance " << config.distance
      << (config.start == protocols::StartMode::overlapped ? ", overlapped" : ", synchronized")
      << (config.early == protocols::EarlyPolicy::join ? ", early join" : ", early abstain");
}

// Only the root has a payload: its own bit.
std::vector<Payload> root_input(int procs, int root) {
  std::vector<Payload> inputs(static_cast<std::size_t>(procs));
  inputs[static_cast<std::size_t>(root)].contributors = std::uint64_t{1} << root;
  return inputs;
}

RunReport run_reliable_broadcast(std::uint64_t seed, std::ostream* trace) {
  Random random(seed);
  const int procs = draw_procs(random);
  protocols::CorrectedTreeConfig tree = draw_tree(random, procs);
  tree.start = protocols::StartMode::overlapped;
  const protocols::ReliableBroadcastConfig config(tree, draw_radix(random),
                                                  static_cast<Duration>(random.below(50)));
  const FaultPlan plan = draw_fault_plan(random, procs);
  const int root = index(config.dissemination.root);
  if (trace != nullptr) {
    *trace << "reliable-broadcast to ";
    describe(*trace, config.dissemination);
    *trace << ", seed " << seed << '\n';
  }
  World world(make_machines<protocols::ReliableBroadcast>(config, procs), root_input(procs, root),
              0);
  return run_world(world, random, plan, root, trace, [root](std::span<const Outcome> outcomes) {
    return check_reliable_broadcast(outcomes, static_cast<std::size_t>(root));
  });
}

// Everybody must be colored if the correction is checked and nobody dies on the way, however late
// messages are. If nobody is dead at all, also with any other correction, but not if it starts by a
// clock: whom a correction colors does not disseminate then, so messages must have kept to the
// clock.
RunReport run_corrected_tree(std::uint64_t seed, std::ostream* trace) {
  Random random(seed);
  const int procs = draw_procs(random);
  const protocols::CorrectedTreeConfig config = draw_tree(random, procs);
  FaultPlan plan = draw_fault_plan(random, procs);
  const int root = index(config.root);
  plan.mischief.suspects_the_living = false;
  const bool is_checked = config.correction == protocols::Correction::checked;
  if (is_checked && random.chance(1, 2)) plan.mischief.crashes = 0;
  const bool is_whole = plan.dead_at_start == 0 && config.start == protocols::StartMode::overlapped;
  const bool everybody = plan.mischief.crashes == 0 && (is_checked || is_whole);
  if (trace != nullptr) {
    *trace << "corrected-tree to ";
    describe(*trace, config);
    *trace << ", seed " << seed << '\n';
  }
  World world(make_machines<protocols::CorrectedTree>(config, procs), root_input(procs, root), 0);
  return run_world(world, random, plan, root, trace, [=](std::span<const Outcome> outcomes) {
    const bool root_lives = outcomes[static_cast<std::size_t>(root)].is_survivor;
    return check_broadcast(outcomes, static_cast<std::size_t>(root), everybody && root_lives);
  });
}

}  // namespace

void RunReport::add(const RunReport& other) {
  operations += other.operations;
  processes += other.processes;
  messages += other.messages;
  crashes += other.crashes;
  false_suspicions += other.false_suspicions;
  coordinator_crashes += other.coordinator_crashes;
  failures += other.failures;
  if (violation.empty()) violation = other.violation;
}

const std::array<SwarmProtocol, 4> swarm_protocols{{
    {"ftco-allreduce", run_allreduce},
    {"ftco-reduce", run_reduce},
    {"reliable-broadcast", run_reliable_broadcast},
    {"corrected-tree", run_corrected_tree},
}};

const SwarmProtocol* find_swarm_protocol(const std::string& name) {
  for (const SwarmProtocol& protocol : swarm_protocols)
    if (name == protocol.name) return &protocol;
  return nullptr;
}

std::string swarm_protocol_names() {
  std::string names;
  for (const SwarmProtocol& protocol : swarm_protocols)
    names += (names.empty() ? "" : ", ") + std::string(protocol.name);
  return names;
}

}  // namespace resprout::sim
