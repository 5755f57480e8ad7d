// The paper's experiments in cases that can be counted by hand.
#include "sim/membership/stabilization.hpp"

#include "doctest/doctest.h"
#include "sim/membership/network.hpp"

namespace resprout::sim {
namespace {

constexpr Duration L = 4600;
constexpr Duration O = 2000;

StabilizationScene uniform(std::int32_t procs, std::int32_t radix, std::int32_t victim) {
  return {procs, radix, rank_at(victim), NetworkKind::uniform, L, O, 0, 0, 0};
}

TEST_CASE("in a uniform network T_s is equations 1 and 2: there and back a level, O_cp a level") {
  // Full binary trees of 3 to 6 levels whose last leaf stays.
  for (std::int32_t height = 3; height <= 6; ++height) {
    const std::int32_t procs = (1 << height) - 1;
    const Stabilization found = stabilize(uniform(procs, 2, procs - 2));
    CHECK(found.stabilized == 2 * L * (height - 1) + O * height);
    // The decision goes down once more, and nobody calculates.
    CHECK(found.installed == found.stabilized + L * (height - 1));
    CHECK(found.messages == 3 * (procs - 2));
  }
}

TEST_CASE("a dead inner node's children hang on its parent, which makes the way to them shorter") {
  const Stabilization leaf = stabilize(uniform(3 + 2, 2, 2));
  const Stabilization inner = stabilize(uniform(3 + 2, 2, 1));
  CHECK(leaf.stabilized == 2 * L * 2 + O * 3);
  CHECK(inner.stabilized == 2 * L * 1 + O * 2);
}

TEST_CASE("hops in a torus go the short way around, and along z through all midplanes") {
  const TorusOfMidplanes one(512);
  CHECK(one.hops(0, 0) == 0);
  CHECK(one.hops(0, 1) == 1);
  CHECK(one.hops(0, 7) == 1);
  CHECK(one.hops(0, 4) == 4);
  CHECK(one.hops(0, 8) == 1);
  CHECK(one.hops(0, 64) == 1);
  CHECK(one.hops(0, 511) == 3);
  CHECK(one.hops(0, 4 + 8 * 4 + 64 * 4) == 12);
  const TorusOfMidplanes two(1024);
  CHECK(two.hops(0, 64 * 8) == 8);
  CHECK(two.hops(0, 64 * 15) == 1);
  CHECK(TorusOfMidplanes(8).hops(0, 7) == 1);
}

TEST_CASE("in the torus each hop costs L") {
  // 0 has the children 1 and 2, one hop and two away; 2 decides, whoever else is there.
  const StabilizationScene scene{4, 2, rank_at(3), NetworkKind::torus, L, O, 0, 0, 0};
  CHECK(stabilize(scene).stabilized == 2 * 2 * L + 2 * O);
}

TEST_CASE("with a cost of messages a process sends and receives one after the other") {
  // The root tells 1 and 2, one after the other; both answer; 3 is dead.
  constexpr Duration cost = 700;
  StabilizationScene scene = uniform(4, 2, 3);
  scene.overhead = cost;
  // O at the root, two sends, L, a receive with O, a send, L, and a receive.
  CHECK(stabilize(scene).stabilized == 2 * O + 2 * L + 5 * cost);
  scene.latency = 0;
  scene.processing = 0;
  CHECK(stabilize(scene).stabilized == 5 * cost);
}

TEST_CASE("a switch serves one message after the other") {
  SerializingSwitch network(100, 30);
  CHECK(network.pass({0}) == Time{100});
  CHECK(network.pass({0}) == Time{130});
  CHECK(network.pass({10}) == Time{160});
  CHECK(network.pass({500}) == Time{600});
}

TEST_CASE("pairs do not disturb each other until the switch is busy all the time") {
  // One message of each pair is on its way: six of them take the switch 120 of 120.
  CHECK(contention_latency(2, 1, 120, 20) == 120);
  CHECK(contention_latency(12, 1, 120, 20) == 120);
  CHECK(contention_latency(24, 1, 120, 20) == 240);
  CHECK(contention_latency(48, 1, 120, 20) == 480);
}

TEST_CASE("the more children a parent has the longer a message takes among as many nodes") {
  for (const std::int32_t nodes : {10, 20, 30, 40}) {
    const Duration pairs = contention_latency(nodes, 1, 118'000, 19'667);
    const Duration twos = contention_latency(nodes, 2, 118'000, 19'667);
    const Duration fours = contention_latency(nodes, 4, 118'000, 19'667);
    CHECK(pairs < twos);
    CHECK(twos < fours);
  }
}

TEST_CASE("amid talk a membership takes longer to stabilize than alone") {
  StabilizationScene scene{31, 2, rank_at(20), NetworkKind::ethernet, 118'000, O, 19'667, 0, 0};
  const Stabilization alone = stabilize(scene);
  scene.talkers = 2;
  const Stabilization busy = stabilize(scene);
  CHECK(alone.stabilized > 2 * 118'000 * 4);
  CHECK(busy.stabilized > alone.stabilized);
  CHECK(busy.messages == alone.messages);
}

}  // namespace
}  // namespace resprout::sim
