// See corrected_reduce.hpp and schedule.hpp. Whole reductions are in src/sim.
#include "protocols/corrected_reduce/corrected_reduce.hpp"

#include "doctest/doctest.h"
#include "protocols/one_process_test.hpp"

namespace resprout::protocols {
namespace {

using topology::Numbering;
using topology::Shape;
using topology::Tree;
using OneProcess = testing::OneProcess<CorrectedReduce>;

// A binomial tree of four, L=2, o=1: 0 has sent to 1 at 0 and to 2 at 1, 1 to 3 at 4.
const CorrectedReduceConfig four{
    .tree = Tree(Shape::binomial, Numbering::interleaved, 2, 4),
    .procs = 4,
    .correction = {.kind = Correction::opportunistic, .distance = 1},
    .tree_time = 8,
    .hop = 4,
    .spacing = 1,
};

TEST_CASE("the index of a child, in trees of all shapes") {
  for (const std::int32_t procs : {2, 3, 8, 50, 200})
    for (const Tree& tree : {Tree(Shape::binomial, Numbering::interleaved, 2, procs),
                             Tree(Shape::kary, Numbering::in_order, 5, procs),
                             Tree(Shape::knomial, Numbering::in_order, 3, procs),
                             Tree(Shape::kary, Numbering::interleaved, 300, procs)})
      for (std::int32_t rank = 1; rank < procs; ++rank)
        CHECK(tree.child(tree.parent(rank), child_index(tree, rank)) == rank);
}

TEST_CASE("the schedule is that of a broadcast, played backwards") {
  CHECK(colored_after(four.tree, 0, 4, 1) == 0);
  CHECK(colored_after(four.tree, 1, 4, 1) == 4);
  CHECK(colored_after(four.tree, 2, 4, 1) == 5);
  CHECK(colored_after(four.tree, 3, 4, 1) == 8);
  CHECK(correction_time(4, 1, 4, 1) == 5);
  CHECK(correction_time(2, 3, 4, 1) == 4);
  CHECK(correction_time(1, 3, 4, 1) == 0);
}

TEST_CASE("inputs go round the ring, then the partial result goes up when it is due") {
  OneProcess inner(four, 1);
  CHECK(inner.said() == "correction>2/input correction>0/input");
  inner.hear(MessageKind::correction, 0);
  inner.hear(MessageKind::correction, 2);
  inner.hear(MessageKind::contribution, 3, 0, 0, Slot::accumulator);
  CHECK(inner.said() == "combine:0 combine:2 combine:3");
  CHECK(inner.wake());
  CHECK(inner.said() == "deliver:-1 contribution>0/accumulator");
  CHECK_FALSE(inner.wake());
}

TEST_CASE("the root delivers what it has when everybody has sent, and nothing that comes later") {
  OneProcess root(four, 0);
  CHECK(root.said() == "correction>1/input correction>3/input");
  root.hear(MessageKind::contribution, 1, 0, 0, Slot::accumulator);
  CHECK(root.wake());
  CHECK(root.said() == "combine:1 deliver:0");
  root.hear(MessageKind::contribution, 2, 0, 0, Slot::accumulator);
  CHECK(root.said() == "");
}

TEST_CASE("each process is due when the broadcast has colored it, seen from the end") {
  for (const auto& [rank, due] : {std::pair{0, 13}, {1, 9}, {2, 8}, {3, 5}}) {
    CorrectedReduce machine(four, rank_at(rank));
    machine.start({});
    CHECK(machine.poll_timeout({}).at == Time{due});
  }
}

}  // namespace
}  // namespace resprout::protocols
