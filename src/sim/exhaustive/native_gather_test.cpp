// A gather that the library carries until a loss: every interleaving of small ones, whoever dies or
// is suspected when. What would go wrong with one rule less is found.
#include "protocols/native_gather/native_gather.hpp"

#include <vector>

#include "doctest/doctest.h"
#include "sim/adversary/defects.hpp"
#include "sim/adversary/world.hpp"
#include "sim/checkers/outcome.hpp"
#include "sim/exhaustive/explore.hpp"
#include "sim/exhaustive/given_again.hpp"

namespace resprout::sim {
namespace {

using protocols::NativeGather;
using protocols::NativeGatherConfig;

// The root goes on with what the library has combined before it was interrupted.
class WithoutRestart : public Defective<NativeGather> {
 public:
  using Defective<NativeGather>::Defective;

  std::optional<Event> poll_event(const Context& context) {
    auto event = machine_.poll_event(context);
    return event && event->kind == EventKind::restart ? machine_.poll_event(context) : event;
  }
};

struct Given {
  int procs;
  int crashes;
  bool suspects_the_living;
};

template <Machine M>
Exploration explore_gather(const Given& given) {
  const NativeGatherConfig config(given.procs, 2);
  std::vector<M> machines;
  std::vector<Payload> inputs(static_cast<std::size_t>(given.procs));
  for (int i = 0; i < given.procs; ++i) {
    machines.emplace_back(config, rank_at(i));
    inputs[static_cast<std::size_t>(i)].contributors = std::uint64_t{1} << i;
  }
  const World<M> start(machines, inputs, 0);
  Limits limits;
  limits.mischief = {given.crashes, given.suspects_the_living, true};
  const auto check = [](std::span<const Outcome> outcomes) { return check_reduce(outcomes); };
  return explore(start, limits, check);
}

TEST_CASE("explored: the root has what all give who live, and everybody returns once") {
  for (const Given given : {Given{3, 2, true}, Given{4, 1, true}, Given{4, 3, false}}) {
    CAPTURE(given.procs);
    const Exploration found = explore_gather<NativeGather>(given);
    CHECK(found.violation == "");
    CHECK(found.is_complete);
    MESSAGE(given.procs << " processes, " << given.crashes << " may die: " << found.states
                        << " states");
  }
}

TEST_CASE("explored: the root waits for ever if those who have returned do not give once more") {
  const Exploration found = explore_gather<WithoutGivingTwice<NativeGather>>({3, 1, false});
  CHECK(found.violation != "");
}

TEST_CASE("explored: something is in it twice if the root goes on with a part") {
  const Exploration found = explore_gather<WithoutRestart>({3, 1, false});
  CHECK(found.violation != "");
}

}  // namespace
}  // namespace resprout::sim
