// A scan that the library carries until a loss: every interleaving of small ones, whoever dies or
// is suspected when. What would go wrong with one rule less is found.
#include "protocols/native_scan/native_scan.hpp"

#include <vector>

#include "doctest/doctest.h"
#include "sim/adversary/defects.hpp"
#include "sim/adversary/world.hpp"
#include "sim/checkers/outcome.hpp"
#include "sim/exhaustive/explore.hpp"
#include "sim/exhaustive/given_again.hpp"

namespace resprout::sim {
namespace {

using protocols::NativeScan;
using protocols::PrefixChainConfig;

// Who has returned takes part as if it had not, with what it has on top of another sum.
class WithoutSum : public Defective<NativeScan> {
 public:
  WithoutSum(const PrefixChainConfig& config, Rank self)
      : Defective<NativeScan>(config, self), fresh_(config, self) {}

  void handle_suspicion(const Context& context, Rank rank) {
    if (machine_.has_returned() && !machine_.is_settling()) machine_ = fresh_;
    machine_.handle_suspicion(context, rank);
  }

 private:
  NativeScan fresh_;
};

struct Given {
  int procs;
  int crashes;
  bool suspects_the_living;
};

template <Machine M>
Exploration explore_scan(const Given& given) {
  const PrefixChainConfig config{given.procs};
  std::vector<M> machines;
  std::vector<Payload> inputs(static_cast<std::size_t>(given.procs));
  for (int i = 0; i < given.procs; ++i) {
    machines.emplace_back(config, rank_at(i));
    inputs[static_cast<std::size_t>(i)].contributors = std::uint64_t{1} << i;
  }
  const World<M> start(machines, inputs, 0, Folding::once);
  Limits limits;
  limits.mischief = {given.crashes, given.suspects_the_living, true};
  const auto check = [](std::span<const Outcome> outcomes) { return check_scan(outcomes); };
  return explore(start, limits, check);
}

TEST_CASE("explored: survivors of a scan count each other, and the same of the dead") {
  for (const Given given : {Given{3, 2, true}, Given{4, 2, true}, Given{4, 3, false},
                            Given{5, 1, true}, Given{5, 2, false}, Given{5, 2, true}}) {
    CAPTURE(given.procs);
    const Exploration found = explore_scan<NativeScan>(given);
    CHECK(found.violation == "");
    CHECK(found.is_complete);
    MESSAGE(given.procs << " processes, " << given.crashes << " may die: " << found.states
                        << " states");
  }
}

TEST_CASE("explored: somebody waits for ever if those who have returned do not pass on again") {
  CHECK(explore_scan<WithoutGivingTwice<NativeScan>>({3, 1, false}).violation != "");
}

TEST_CASE("explored: something counts twice if those who have returned take another sum") {
  CHECK(explore_scan<WithoutSum>({4, 1, false}).violation != "");
}

TEST_CASE("explored: somebody waits for ever if suspicions are not heard") {
  CHECK(explore_scan<WithoutSuspicions<NativeScan>>({3, 1, false}).violation != "");
}

}  // namespace
}  // namespace resprout::sim
