// One random operation in the asynchronous world, from a seed.
// Thread rule: no shared state.
#pragma once

#include <array>
#include <cstdint>
#include <ostream>
#include <string>

#include "sim/adversary/world.hpp"
#include "sim/swarm/chooser.hpp"
#include "sim/swarm/falls.hpp"

namespace resprout::sim {

// What happened in one run, or in many: they add up.
struct RunReport {
  std::uint64_t operations = 0;
  std::uint64_t processes = 0;
  std::uint64_t messages = 0;
  std::uint64_t crashes = 0;
  std::uint64_t false_suspicions = 0;     // a process was suspected that still ran
  std::uint64_t coordinator_crashes = 0;  // operations whose first process, or root, died
  std::uint64_t failures = 0;             // operations that no survivor could complete, rightly
  std::string violation;                  // the first one; empty: none

  void add(const RunReport& other);
};

// Runs `world` to its rest. Writes each action to `trace` unless it is null.
// `check` says from the outcomes what promise is broken.
template <typename World, typename Check>
RunReport run_world(World& world, Random& random, const FaultPlan& plan, int coordinator,
                    std::ostream* trace, Check check) {
  RunReport report;
  report.operations = 1;
  report.processes = static_cast<std::uint64_t>(world.procs());
  Mischief mischief = plan.mischief;
  Chooser chooser(random, plan.prefers_low_ranks);
  std::vector<Action> actions;

  const auto act = [&](const Action& action) {
    const bool is_new_fault = (action.kind == ActionKind::crash && !world.is_doomed(action.a)) ||
                              (action.kind == ActionKind::suspect && !world.is_doomed(action.b));
    if (action.kind == ActionKind::suspect && world.is_alive(action.b)) ++report.false_suspicions;
    if (action.kind == ActionKind::crash) ++report.crashes;
    if (trace != nullptr) *trace << "  " << world.describe(action) << '\n';
    if (is_new_fault) --mischief.crashes;
    world.apply(action);
  };

  for (int i = 0; i < plan.dead_at_start; ++i) {
    const auto victim = static_cast<std::uint8_t>(random.below(report.processes));
    if (world.is_alive(victim)) act({ActionKind::crash, victim});
  }
  mischief.crashes = plan.mischief.crashes;
  if constexpr (DecidingWorld<World>) Falls(world, random, act).run(plan.falls);

  const std::uint64_t steps_max = 4000 * (report.processes + 4);
  for (std::uint64_t step = 0; world.violation().empty(); ++step) {
    world.list_actions(mischief, actions);
    if (World::is_at_rest(world, actions)) break;
    if (step == steps_max) {
      report.violation = "does not come to rest";
      return report;
    }
    std::uint64_t doomed = 0;
    for (int rank = 0; rank < world.procs(); ++rank)
      if (world.is_doomed(rank)) doomed |= std::uint64_t{1} << rank;
    act(chooser.choose(actions, doomed));
  }

  const auto outcomes = world.outcomes();
  report.messages = world.messages_sent();
  report.coordinator_crashes = world.is_alive(coordinator) ? 0 : 1;
  for (const auto& outcome : outcomes)
    if (outcome.is_survivor && outcome.failed) report.failures = 1;
  report.violation = world.violation();
  if (report.violation.empty()) report.violation = check(outcomes).value_or("");
  if (trace != nullptr)
    *trace << (report.violation.empty() ? "all promises kept" : report.violation) << '\n';
  return report;
}

// A protocol the swarm knows: `run` draws everything from the seed.
struct SwarmProtocol {
  const char* name;
  RunReport (*run)(std::uint64_t seed, std::ostream* trace);
};

const SwarmProtocol* find_swarm_protocol(const std::string& name);
std::string swarm_protocol_names();
extern const std::array<SwarmProtocol, 20> swarm_protocols;

}  // namespace resprout::sim
