// Corrections without payload do what corrections with payload do: whom the tree misses is colored
// by its neighbors on the ring, while everybody's patience lasts.
#include <string>
#include <vector>

#include "doctest/doctest.h"
#include "protocols/reliable_broadcast/reliable_broadcast.hpp"
#include "sim/adversary/world.hpp"
#include "sim/swarm/draw.hpp"

namespace resprout::sim {
namespace {

using protocols::Correction;
using protocols::ReliableBroadcast;

struct Counts {
  int colored = 0;
  int pulls = 0;
  int supplies = 0;
};

// A broadcast over a binomial tree in which `dead` has died, in random order. Nobody's deadline
// ever comes.
Counts broadcast_without_timeouts(int procs, int dead, Correction correction, std::uint64_t seed) {
  Random random(seed);
  protocols::CorrectedTreeConfig tree{
      topology::Tree(topology::Shape::binomial, topology::Numbering::interleaved, 2, procs), procs};
  tree.correction = {.kind = correction, .distance = 1};
  const ReliableBroadcast::Config config(tree, 2, 1);
  World world(make_machines<ReliableBroadcast>(config, procs), root_input(procs, 0), 0);
  world.offer_corrections();
  world.apply({ActionKind::crash, static_cast<std::uint8_t>(dead)});

  Counts counts;
  std::vector<Action> actions;
  for (;;) {
    world.list_actions({}, actions);
    std::erase_if(actions, [](const Action& action) { return action.kind == ActionKind::wake; });
    if (actions.empty()) break;
    const Action& next = actions[random.below(actions.size())];
    const std::string what = next.kind == ActionKind::send ? world.describe(next) : "";
    if (what.find(": pull") != std::string::npos) ++counts.pulls;
    if (what.find(": supply") != std::string::npos) ++counts.supplies;
    world.apply(next);
  }
  CHECK(world.violation() == "");
  for (const Outcome& outcome : world.outcomes()) counts.colored += outcome.delivered;
  return counts;
}

TEST_CASE("the subtree of a dead inner process is colored by offers, and by nothing else") {
  for (const int procs : {4, 7, 8, 16, 33}) {
    for (const Correction correction : {Correction::checked, Correction::optimized_opportunistic}) {
      for (int dead = 1; dead < procs; ++dead) {
        CAPTURE(procs);
        CAPTURE(dead);
        const topology::Tree tree(topology::Shape::binomial, topology::Numbering::interleaved, 2,
                                  procs);
        int below = 0;
        for (int rank = 1; rank < procs; ++rank)
          for (int node = tree.parent(rank); node > 0; node = tree.parent(node))
            below += node == dead ? 1 : 0;
        const auto seed = static_cast<std::uint64_t>(procs * 100 + dead);
        const Counts counts = broadcast_without_timeouts(procs, dead, correction, seed);
        CHECK(counts.colored == procs - 1);
        CHECK(counts.pulls == counts.supplies);
        // Who is supplied sends on to its own children.
        CHECK(counts.supplies <= below);
        CHECK((counts.supplies > 0) == (below > 0));
      }
    }
  }
}

TEST_CASE(
    "without a correction the subtree of a dead inner process waits for its patience to end") {
  CHECK(broadcast_without_timeouts(8, 1, Correction::none, 1).colored == 4);
  CHECK(broadcast_without_timeouts(8, 7, Correction::none, 1).colored == 7);
}

}  // namespace
}  // namespace resprout::sim
