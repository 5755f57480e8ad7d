// The collective operations of the Revoke benchmark match, and have everybody hear of everybody.
#include "sim/revoke/steps.hpp"

#include <vector>

#include "doctest/doctest.h"

namespace resprout::sim {
namespace {

using registry::Plan;

TEST_CASE("each message of a step has somebody who waits for it in that step") {
  for (const Plan plan : {Plan::barrier, Plan::allreduce})
    for (std::int32_t procs = 1; procs <= 40; ++procs) {
      const PlanSteps steps(plan, procs);
      for (std::int32_t step = 0; step < steps.count(); ++step)
        for (std::int32_t rank = 0; rank < procs; ++rank) {
          const Step own = steps.of(rank, step);
          if (own.to >= 0) CHECK(steps.of(own.to, step).from == rank);
          if (own.from >= 0) CHECK(steps.of(own.from, step).to == rank);
        }
    }
}

TEST_CASE("after the last step everybody has heard of everybody") {
  for (const Plan plan : {Plan::barrier, Plan::allreduce})
    for (std::int32_t procs = 1; procs <= 40; ++procs) {
      const PlanSteps steps(plan, procs);
      std::vector<std::uint64_t> known;
      for (std::int32_t rank = 0; rank < procs; ++rank) known.push_back(std::uint64_t{1} << rank);
      for (std::int32_t step = 0; step < steps.count(); ++step) {
        const std::vector<std::uint64_t> before = known;
        for (std::int32_t rank = 0; rank < procs; ++rank)
          if (const std::int32_t from = steps.of(rank, step).from; from >= 0)
            known[static_cast<std::size_t>(rank)] |= before[static_cast<std::size_t>(from)];
      }
      for (const std::uint64_t mask : known) CHECK(mask == (std::uint64_t{1} << procs) - 1);
    }
}

}  // namespace
}  // namespace resprout::sim
