// The broadcast machine of one process, told by hand what the others say.
#include "protocols/reliable_broadcast/reliable_broadcast.hpp"

#include "doctest/doctest.h"
#include "protocols/one_process_test.hpp"

namespace resprout::protocols {
namespace {

using OneProcess = testing::OneProcess<ReliableBroadcast>;

// A binomial tree over four processes without a correction: 0 sends to 1 and 2, 1 sends to 3.
ReliableBroadcastConfig four_from(int root) {
  CorrectedTreeConfig tree{
      topology::Tree(topology::Shape::binomial, topology::Numbering::interleaved, 2, 4), 4};
  tree.root = rank_at(root);
  tree.correction.kind = Correction::none;
  return {tree, 2, 100};
}
const ReliableBroadcastConfig four = four_from(0);

// The same over eight: 1 sends to 3 and 5, 3 sends to 7.
const ReliableBroadcastConfig eight = [] {
  CorrectedTreeConfig tree{
      topology::Tree(topology::Shape::binomial, topology::Numbering::interleaved, 2, 8), 8};
  tree.correction.kind = Correction::none;
  return ReliableBroadcastConfig{tree, 2, 100};
}();

// Gossip of two rounds among four, corrected or not.
ReliableGossipConfig gossip_of_four(Correction correction) {
  const CorrectedGossipConfig gossip{
      .procs = 4, .correction = {.kind = correction, .distance = 1}, .rounds = 2};
  return {gossip, 2, 100};
}

TEST_CASE("without failures it is the corrected tree") {
  OneProcess root(four, 0);
  CHECK(root.said() == "deliver:0 tree>1/input tree>2/input");
  OneProcess inner(four, 1);
  CHECK(inner.said() == "");
  inner.hear(MessageKind::tree, 0);
  CHECK(inner.said() == "colored:0 deliver:0 tree>3/result");
  CHECK_FALSE(inner.wake());
}

TEST_CASE("an uncolored process pulls from the root once, patience after suspecting an ancestor") {
  OneProcess leaf(four, 3);
  CHECK_FALSE(leaf.wake());
  leaf.suspect(1);
  CHECK(leaf.said() == "");
  CHECK(leaf.wake());
  CHECK(leaf.said() == "pull>0/none");
  leaf.suspect(2);
  CHECK_FALSE(leaf.wake());
  leaf.hear(MessageKind::supply, 0);
  CHECK(leaf.said() == "colored:0 deliver:0");
  leaf.hear(MessageKind::tree, 1);
  CHECK(leaf.said() == "");
}

TEST_CASE("a loss that is not between the root and a process does not make it pull") {
  OneProcess leaf(four, 3, {2});
  CHECK_FALSE(leaf.wake());
  leaf.hear(MessageKind::tree, 1);
  CHECK(leaf.said() == "colored:1 deliver:1");
}

TEST_CASE("a supplied process sends on what its own children wait for") {
  OneProcess inner(eight, 3, {1});
  CHECK(inner.wake());
  CHECK(inner.said() == "pull>0/none");
  inner.hear(MessageKind::supply, 0);
  CHECK(inner.said() == "colored:0 deliver:0 tree>7/result");
}

TEST_CASE("who is colored in time does not pull") {
  OneProcess leaf(four, 3);
  leaf.suspect(2);
  leaf.hear(MessageKind::tree, 1);
  CHECK_FALSE(leaf.wake());
  CHECK(leaf.said() == "colored:1 deliver:1");
}

TEST_CASE("the root answers each pull once, but not a suspect's") {
  OneProcess root(four, 0);
  root.said();
  root.hear(MessageKind::pull, 3, 0, 0, Slot::none);
  root.suspect(2);
  root.hear(MessageKind::pull, 2, 0, 0, Slot::none);
  root.hear(MessageKind::pull, 1, 0, 0, Slot::none);
  CHECK(root.said() == "supply>3/input supply>1/input");
  CHECK(root.said() == "");
}

TEST_CASE("the root died before anybody had the payload: all fail") {
  OneProcess coordinator(four, 1);
  coordinator.suspect(0);
  coordinator.hear(MessageKind::contribution, 2, 1, 0, Slot::none);
  CHECK(coordinator.said() == "");
  coordinator.hear(MessageKind::contribution, 3, 1, 0, Slot::none);
  CHECK(coordinator.said() == "fail:1 result>2/none result>3/none");

  OneProcess other(four, 2, {0});
  CHECK(other.said() == "contribution>1/none");
  other.hear(MessageKind::result, 1, 1, 0, Slot::none);
  CHECK(other.said() == "fail:1");
}

TEST_CASE("the root died and one has the payload: it gives it to all") {
  OneProcess coordinator(four, 1, {0});
  coordinator.hear(MessageKind::contribution, 2, 1, 0, Slot::none);
  coordinator.hear(MessageKind::contribution, 3, 1);
  CHECK(coordinator.said() == "adopt:3 deliver:1 result>2/result result>3/result");

  OneProcess owner(four, 3);
  owner.hear(MessageKind::correction, 0, 0, 1);
  CHECK(owner.said() == "colored:0 deliver:0");
  owner.suspect(0);
  CHECK(owner.said() == "contribution>1/result");
  owner.result(1, 1);
  CHECK(owner.said() == "");
}

TEST_CASE("who has told the settlement that it has nothing takes nothing from the tree any more") {
  OneProcess other(four, 2, {0});
  CHECK(other.said() == "contribution>1/none");
  other.hear(MessageKind::tree, 0);
  other.hear(MessageKind::supply, 0);
  CHECK(other.said() == "");
}

TEST_CASE("a settlement's result is accepted before the root is suspected here") {
  OneProcess other(four, 3);
  other.result(2, 1);
  CHECK(other.said() == "deliver:2");
  other.suspect(0);
  CHECK(other.said() == "");
  other.suspect(1);
  CHECK(other.said() == "restart@2 contribution>2/result#1");
}

TEST_CASE("contributions that come before the settlement are not lost when the tree delivers") {
  const ReliableBroadcastConfig from_three = four_from(3);
  OneProcess coordinator(from_three, 0);
  coordinator.hear(MessageKind::contribution, 1, 0);
  coordinator.hear(MessageKind::tree, 3);
  CHECK(coordinator.said() == "colored:3 deliver:3 tree>2/result");
  coordinator.hear(MessageKind::contribution, 2, 0, 0, Slot::none);
  coordinator.suspect(3);
  CHECK(coordinator.said() == "result>1/result result>2/result");
}

TEST_CASE("who suspects an ancestor takes up an offer at once") {
  OneProcess leaf(eight, 7, {3});
  leaf.hear(MessageKind::correction, 6, 0, 1, Slot::none);
  CHECK(leaf.said() == "pull>6/none");
  CHECK_FALSE(leaf.wake());
  leaf.hear(MessageKind::supply, 6);
  CHECK(leaf.said() == "colored:6 deliver:6");
}

TEST_CASE("an offer is remembered until an ancestor is suspected, and needless if none is") {
  OneProcess leaf(eight, 7);
  leaf.hear(MessageKind::correction, 6, 0, 1, Slot::none);
  leaf.hear(MessageKind::correction, 0, 0, 0, Slot::none);
  leaf.suspect(2);
  CHECK(leaf.said() == "");
  leaf.suspect(1);
  CHECK(leaf.said() == "pull>6/none");

  OneProcess spared(eight, 7, {2});
  spared.hear(MessageKind::correction, 6, 0, 1, Slot::none);
  spared.hear(MessageKind::tree, 3);
  CHECK(spared.said() == "colored:3 deliver:3");
}

TEST_CASE("who has offered the payload supplies it, each who asks once") {
  OneProcess owner(eight, 6);
  owner.hear(MessageKind::tree, 2);
  CHECK(owner.said() == "colored:2 deliver:2");
  owner.hear(MessageKind::pull, 7, 0, 0, Slot::none);
  owner.hear(MessageKind::pull, 5, 0, 0, Slot::none);
  CHECK(owner.said() == "supply>7/result supply>5/result");
  CHECK(owner.said() == "");
}

TEST_CASE("the process that was asked dies: the next offer is taken, or patience decides") {
  OneProcess leaf(eight, 7, {3});
  leaf.hear(MessageKind::correction, 6, 0, 1, Slot::none);
  CHECK(leaf.said() == "pull>6/none");
  leaf.suspect(6);
  CHECK(leaf.said() == "");
  leaf.hear(MessageKind::correction, 5, 0, 1, Slot::none);
  CHECK(leaf.said() == "pull>5/none");
  leaf.suspect(5);
  CHECK(leaf.wake());
  CHECK(leaf.said() == "pull>0/none");
  CHECK_FALSE(leaf.wake());
}

TEST_CASE("a suspect's offer is worth nothing") {
  OneProcess leaf(eight, 7, {3, 6});
  leaf.hear(MessageKind::correction, 6, 0, 1, Slot::none);
  CHECK(leaf.said() == "");
}

using OneGossiper = testing::OneProcess<ReliableGossip>;

TEST_CASE("gossip whose correction reaches all waits like a tree until somebody is suspected") {
  const ReliableGossipConfig config = gossip_of_four(Correction::checked);
  OneGossiper process(config, 2);
  CHECK_FALSE(process.wake());
  process.suspect(1);
  CHECK(process.wake());
  CHECK(process.said() == "pull>0/none");
}

TEST_CASE("gossip that may miss somebody though nobody dies has them pull without a suspicion") {
  const ReliableGossipConfig config = gossip_of_four(Correction::opportunistic);
  OneGossiper process(config, 2);
  CHECK(process.wake());
  CHECK(process.said() == "pull>0/none");
  CHECK_FALSE(process.wake());
}

TEST_CASE("an offer after gossip is taken up though nobody is suspected: gossip may be over") {
  const ReliableGossipConfig config = gossip_of_four(Correction::checked);
  OneGossiper process(config, 2);
  process.hear(MessageKind::correction, 1, 0, 1, Slot::none);
  CHECK(process.said() == "pull>1/none");
}

TEST_CASE("who is supplied past the gossip keeps it to himself") {
  const ReliableGossipConfig config = gossip_of_four(Correction::checked);
  OneGossiper process(config, 2, {1});
  CHECK(process.wake());
  process.said();
  process.hear(MessageKind::supply, 0);
  CHECK(process.said() == "colored:0 deliver:0");
}

TEST_CASE("the root died and one has heard its gossip: who settles takes nothing from gossip") {
  const ReliableGossipConfig config = gossip_of_four(Correction::checked);
  OneGossiper owner(config, 3);
  owner.hear(MessageKind::tree, 0, 2);
  CHECK(owner.said().starts_with("colored:0 deliver:0 correction>2/result"));
  owner.suspect(0);
  CHECK(owner.said() == "contribution>1/result");

  OneGossiper other(config, 2, {0});
  CHECK(other.said() == "contribution>1/none");
  other.hear(MessageKind::tree, 3, 1);
  other.hear(MessageKind::correction, 3);
  CHECK(other.said() == "");
  other.result(1, 1);
  CHECK(other.said() == "deliver:1");
}

}  // namespace
}  // namespace resprout::protocols
