// The machine with in-band detection of one process, told by hand what the others say.
#include "protocols/ftco_in_band/ftco_in_band.hpp"

#include "doctest/doctest.h"
#include "protocols/one_process_test.hpp"

namespace resprout::protocols {
namespace {

using OneProcess = testing::OneProcess<FtcoInBand>;
using topology::RangeForest;
using topology::RangeShape;

// 8 processes, binomial: 0 has the children 1, 5, 7; 1 has 2, 4; 2 has 3; 5 has 6.
constexpr FtcoInBandConfig eight{{8, 2, Rank{0}, true, RangeShape::knomial}, {10, 1}};

TEST_CASE("DATA that goes up is acknowledged, and what comes is acknowledged after it went on") {
  OneProcess process(eight, 5);
  process.contribution(6, 0);
  CHECK(process.said() == "combine:6 contribution>0/accumulator acknowledgment>6/none");
  process.hear(MessageKind::acknowledgment, 0, 0, 0, Slot::none);
  process.result(0, 0);
  CHECK(process.said() == "deliver:0 result>6/result");
}

TEST_CASE(
    "figure 3: a parent that does not acknowledge DATA is suspected, and its parent gets it") {
  OneProcess process(eight, 3);
  CHECK(process.said() == "contribution>2/input");
  CHECK(process.wake());
  // 2 L, and an interval of 4 steps for each of the parent's 2 neighbors; then it is too late.
  CHECK(process.now().ticks == 20 + 8 + 1);
  CHECK(process.said() == "suspect:2 contribution>1/input");
}

TEST_CASE("figure 4: all children that are overdue are asked, and who is silent is suspected") {
  OneProcess process(eight, 1);
  CHECK(process.said() == "");
  CHECK(process.wake());
  CHECK(process.said() == "keepalive>2/none keepalive>4/none");
  process.hear(MessageKind::acknowledgment, 4, 0, 0, Slot::none);
  // Who has answered is asked again; it is a leaf, with which patience is short.
  process.wake();
  CHECK(process.said() == "keepalive>4/none");
  process.wake();
  CHECK(process.said() == "suspect:2 exclude:2 keepalive>3/none");
  process.contribution(3, 0);
  process.contribution(4, 0);
  CHECK(process.said() ==
        "combine:3 combine:4 contribution>0/accumulator acknowledgment>4/none "
        "acknowledgment>3/none");
}

TEST_CASE("a question is answered, also by who has nothing to say yet") {
  OneProcess process(eight, 1);
  process.hear(MessageKind::keepalive, 0, 0, 0, Slot::none);
  CHECK(process.said() == "acknowledgment>0/none");
}

TEST_CASE("who is asked by a grandparent learns that its parent is suspected, and contributes") {
  OneProcess process(eight, 3);
  CHECK(process.said() == "contribution>2/input");
  process.hear(MessageKind::keepalive, 1, 0, 0, Slot::none);
  CHECK(process.said() == "suspect:2 contribution>1/input");
}

TEST_CASE("who has the result sends it to a grandchild that asks past its parent") {
  OneProcess process(eight, 1);
  process.contribution(2, 0);
  process.contribution(4, 0);
  process.result(0, 0);
  process.said();
  process.hear(MessageKind::keepalive, 3, 0, 0, Slot::none);
  CHECK(process.said() == "suspect:2 result>3/result");
}

TEST_CASE("a message of a later round tells who is suspected") {
  OneProcess process(eight, 6);
  CHECK(process.said() == "contribution>5/input");
  process.hear(MessageKind::keepalive, 5, 1, 0, Slot::none);
  CHECK(process.said() == "suspect:0 restart@1 contribution>5/input");
}

TEST_CASE("several roots exchange their partial results and fold those of the others") {
  constexpr FtcoInBandConfig joint{{8, 2, Rank{0}, true, RangeShape::knomial, 2}, {10, 1}};
  OneProcess root(joint, 4);  // with the children 5 and 7
  root.contribution(0, 0);
  CHECK(root.said() == "acknowledgment>0/none");
  root.contribution(5, 0);
  root.contribution(7, 0);
  CHECK(root.said() ==
        "combine:5 combine:7 contribution>0/accumulator acknowledgment>5/none "
        "acknowledgment>7/none");
  root.wake();
  CHECK(root.said() == "combine:0 deliver:4 result>5/result result>7/result");
}

TEST_CASE("a broadcast goes down at once, and who has not got it when it is due asks") {
  constexpr FtcoInBandConfig broadcast{{8, 2, Rank{0}, true, RangeShape::knomial, 1, true},
                                       {10, 1}};
  OneProcess root(broadcast, 0);
  CHECK(root.said() == "deliver:0 result>1/result result>5/result result>7/result");
  OneProcess leaf(broadcast, 3);
  CHECK(leaf.said() == "");
  leaf.wake();
  CHECK(leaf.said() == "keepalive>2/none");
}

TEST_CASE("what is expected when nobody fails, and how long an answer may take") {
  constexpr RangeForest forest{0, 8, 2, RangeShape::knomial, 1};
  constexpr Timing timing{10, 1};
  CHECK(contributions_due(forest, 3, timing) == 0);
  CHECK(contributions_due(forest, 2, timing) == 10 + 1 + 1);
  CHECK(contributions_due(forest, 0, timing) == 3 * 11 + 1 + 2 + 3);
  CHECK(result_due(forest, 0, timing, false) == 39);
  CHECK(result_due(forest, 5, timing, false) == 39 + 10 + 2 + 1);
  CHECK(result_due(forest, 5, timing, true) == 13);
  // Of 1: the neighbors 0, 2 and 4, one descendant two levels below.
  CHECK(patience_with(forest, 1, 1, timing) == 2 * 10 + 4 * 3);
  CHECK(patience_with(forest, 1, 2, timing) == 2 * 10 + 4 * 3);
  CHECK(patience_with(forest, 0, 2, timing) == 2 * 10 + 4 * 3);
  CHECK(patience_with(forest, 0, 3, timing) == 2 * 10 + 4 * 3);
}

}  // namespace
}  // namespace resprout::protocols
