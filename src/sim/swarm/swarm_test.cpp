// The swarm can be trusted: it finds rules that are broken on purpose, and repeats itself exactly.
#include <sstream>
#include <vector>

#include "doctest/doctest.h"
#include "protocols/ftco_allreduce/ftco_allreduce.hpp"
#include "sim/adversary/defects.hpp"
#include "sim/checkers/revocation.hpp"
#include "sim/revoke/revoker.hpp"
#include "sim/swarm/run.hpp"

namespace resprout::sim {
namespace {

using protocols::FtcoAllreduce;
using protocols::FtcoAllreduceConfig;

// The first violation among many random allreduces of five, or "".
template <Machine M>
std::string first_violation() {
  const FtcoAllreduceConfig config{5, 2, Rank{0}, true};
  std::vector<M> machines;
  std::vector<Payload> inputs;
  for (int rank = 0; rank < config.procs; ++rank) {
    machines.emplace_back(config, rank_at(rank));
    inputs.push_back({std::uint64_t{1} << rank, 0});
  }
  for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
    Random random(seed);
    const FaultPlan plan = draw_fault_plan(random, config.procs);
    World<M> world(machines, inputs, 0);
    const RunReport report = run_world(world, random, plan, 0, nullptr, check_allreduce);
    if (!report.violation.empty()) return report.violation;
  }
  return "";
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("the swarm finds survivors that disagree when a round is no promise") {
  CHECK(contains(first_violation<WithoutPromise<FtcoAllreduce>>(), "disagrees"));
}

TEST_CASE("the swarm finds survivors that disagree when decisions are not reported") {
  CHECK(contains(first_violation<WithoutMemory<FtcoAllreduce>>(), "disagrees"));
}

TEST_CASE("the swarm finds who waits for ever when suspicions are not heard") {
  CHECK(contains(first_violation<WithoutSuspicions<FtcoAllreduce>>(), "never returned"));
}

TEST_CASE("without a defect the same runs keep all promises") {
  CHECK(first_violation<FtcoAllreduce>() == "");
}

// The first violation among many revocations in which the ring may be broken, or "".
template <Machine M>
std::string first_silence(bool closes_ring) {
  const RevokerConfig config{{8, closes_ring}, {{Rank{2}, Time{0}}}};
  std::vector<M> machines;
  for (int rank = 0; rank < 8; ++rank) machines.emplace_back(config, rank_at(rank));
  for (std::uint64_t seed = 1; seed <= 20000; ++seed) {
    Random random(seed);
    const FaultPlan plan = draw_fault_plan(random, 8);
    World<M> world(machines, std::vector<Payload>(8), 0);
    const auto check = [](std::span<const Outcome> outcomes) {
      return check_revocation(outcomes, 0b100, Reach::detector);
    };
    const RunReport report = run_world(world, random, plan, 2, nullptr, check);
    if (!report.violation.empty()) return report.violation;
  }
  return "";
}

TEST_CASE("the swarm finds who never hears of a revocation that nobody passes on") {
  CHECK(contains(first_silence<WithoutForwarding<Revoker>>(true), "never heard"));
}

TEST_CASE("the swarm finds who is cut off where the ring is left open over the dead") {
  CHECK(contains(first_silence<Revoker>(false), "never heard"));
  CHECK(first_silence<Revoker>(true) == "");
}

TEST_CASE("the same seed is the same run, step by step") {
  for (const SwarmProtocol& protocol : swarm_protocols) {
    std::ostringstream first;
    std::ostringstream second;
    for (std::uint64_t seed = 1; seed < 20; ++seed) {
      protocol.run(seed, &first);
      protocol.run(seed, &second);
    }
    CHECK(first.str() == second.str());
    CHECK(contains(first.str(), "dies"));
  }
}

}  // namespace
}  // namespace resprout::sim
