// The protocols that the swarm knows: how a random instance of each is drawn, and what it promises.
#include <algorithm>
#include <vector>

#include "protocols/ftco_allreduce/ftco_allreduce.hpp"
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
std::vector<M> make_machines(const Config& config) {
  std::vector<M> machines;
  for (std::int32_t rank = 0; rank < config.procs; ++rank)
    machines.emplace_back(config, rank_at(rank));
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
  World world(make_machines<protocols::FtcoAllreduce>(config), own_inputs(procs, 0), 0);
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
  World world(make_machines<protocols::FtcoAllreduce>(config), own_inputs(procs, root), root);
  return run_world(world, random, plan, root, trace, check_reduce);
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

const std::array<SwarmProtocol, 2> swarm_protocols{{
    {"ftco-allreduce", run_allreduce},
    {"ftco-reduce", run_reduce},
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
