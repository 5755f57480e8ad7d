// The allreduce machine of one process, told by hand what the others say.
#include "protocols/ftco_allreduce/ftco_allreduce.hpp"

#include "doctest/doctest.h"
#include "protocols/one_process_test.hpp"

namespace resprout::protocols {
namespace {

using OneProcess = testing::OneProcess<FtcoAllreduce>;

constexpr FtcoAllreduceConfig eight{8, 2, Rank{0}, true};

TEST_CASE("without failures, an inner process folds its children in rank order and sends once") {
  OneProcess process(eight, 4);
  CHECK(process.said() == "");
  process.contribution(6, 0);
  CHECK(process.said() == "");
  process.contribution(5, 0);
  CHECK(process.said() == "combine:5 combine:6 contribution>0/accumulator");
  process.result(0, 0);
  CHECK(process.said() == "deliver:0 result>5/result result>6/result");
  process.result(0, 0);
  CHECK(process.said() == "");
}

TEST_CASE("a leaf contributes its input as it is") {
  OneProcess process(eight, 7);
  CHECK(process.said() == "contribution>6/input");
}

TEST_CASE("a process alone delivers its own input") {
  constexpr FtcoAllreduceConfig one{1, 2, Rank{0}, true};
  OneProcess process(one, 0);
  CHECK(process.said() == "deliver:0");
}

TEST_CASE("a dead child is excluded and its children are counted in its place") {
  OneProcess process(eight, 4, {6});
  process.contribution(7, 0);
  CHECK(process.said() == "");
  process.contribution(5, 0);
  CHECK(process.said() == "combine:5 exclude:6 combine:7 contribution>0/accumulator");
}

TEST_CASE("what a suspected child sent while it lived still counts") {
  OneProcess process(eight, 4);
  process.contribution(6, 0);
  process.suspect(6);
  process.contribution(7, 0);
  process.contribution(5, 0);
  CHECK(process.said() == "combine:5 combine:6 contribution>0/accumulator");
}

TEST_CASE("a child whose parent dies sends the same contribution to the grandparent") {
  OneProcess process(eight, 7);
  CHECK(process.said() == "contribution>6/input");
  process.suspect(6);
  CHECK(process.said() == "contribution>4/input");
  process.suspect(5);
  CHECK(process.said() == "");
}

TEST_CASE("who has the result reaches behind a child that dies, and behind its child") {
  OneProcess process(eight, 0);
  for (int child : {1, 2, 4}) process.contribution(child, 0);
  CHECK(process.said() ==
        "combine:1 combine:2 combine:4 deliver:0 result>1/result result>2/result result>4/result");
  process.suspect(6);
  CHECK(process.said() == "");
  process.suspect(4);
  CHECK(process.said() == "result>5/result result>7/result");
}

TEST_CASE("when the root dies, the next one starts over from its input and excludes it") {
  OneProcess process(eight, 1);
  CHECK(process.said() == "contribution>0/input");
  process.suspect(0);
  CHECK(process.said() == "restart@1 exclude:0");
  for (int child : {2, 3, 5}) process.contribution(child, 1);
  CHECK(process.said() ==
        "combine:2 combine:3 combine:5 deliver:1 result>2/result "
        "result>3/result result>5/result");
}

TEST_CASE("a process of a higher round ignores the result of a lower one") {
  OneProcess process(eight, 3);
  CHECK(process.said() == "contribution>2/input");
  process.suspect(0);
  process.result(2, 0);
  CHECK(process.said() == "restart@1");
  process.contribution(4, 1);
  CHECK(process.said() == "combine:4 contribution>1/accumulator");
}

TEST_CASE("who has delivered contributes its decision to the next round, not its input") {
  OneProcess process(eight, 7);
  process.result(6, 0);
  CHECK(process.said() == "deliver:6");
  process.suspect(0);
  CHECK(process.said() == "restart@1 contribution>5/result#0");
  process.result(5, 1);
  CHECK(process.said() == "");
}

TEST_CASE("a coordinator takes a reported decision over, whatever it has summed up") {
  OneProcess process(eight, 1, {0});
  process.contribution(2, 1);
  process.contribution(3, 1, 1);
  process.contribution(5, 1);
  CHECK(process.said() ==
        "exclude:0 combine:2 adopt:3 deliver:1 result>2/result result>3/result "
        "result>5/result");
}

TEST_CASE("in a settlement 'nothing' is combined, and as a decision it is taken over") {
  OneProcess process(eight, 1, {0});
  process.contribution(2, 1);
  process.hear(MessageKind::contribution, 3, 1, 1, Slot::none);
  process.hear(MessageKind::contribution, 5, 1, 0, Slot::none);
  CHECK(process.said() ==
        "exclude:0 combine:2 adopt:3 deliver:1 result>2/result result>3/result "
        "result>5/result");

  OneProcess other(eight, 4);
  other.hear(MessageKind::contribution, 5, 0, 0, Slot::none);
  other.hear(MessageKind::contribution, 6, 0, 0, Slot::none);
  CHECK(other.said() == "combine:5 combine:6 contribution>0/accumulator");
}

TEST_CASE("of two decisions the one of the later round wins") {
  OneProcess process(eight, 2, {0, 1});
  process.contribution(3, 2, 1);
  process.contribution(4, 2, 2);
  process.contribution(6, 2, 1);
  CHECK(process.said() ==
        "exclude:0 exclude:1 adopt:3 adopt:4 deliver:2 result>3/result "
        "result>4/result result>6/result");
}

TEST_CASE(
    "the result of a higher round is accepted before its coordinator's rivals are suspected") {
  OneProcess process(eight, 6);
  process.contribution(7, 1);
  CHECK(process.said() == "");
  process.result(5, 1);
  CHECK(process.said() == "deliver:5");
  process.suspect(0);
  CHECK(process.said() == "");
}

FtcoAllreduceConfig doubling(int procs, int roots) {
  FtcoAllreduceConfig config{procs, 2, Rank{0}, true};
  config.roots = roots;
  config.is_doubling = true;
  return config;
}

const FtcoAllreduceConfig eight_doubling = doubling(8, 8);

TEST_CASE("doubling: a root exchanges with one after the other, and has everybody's part then") {
  OneProcess process(eight_doubling, 5);
  CHECK(process.said() == "contribution>4/input");
  process.contribution(4, 0);
  CHECK(process.said() == "combine:4 contribution>7/accumulator");
  process.contribution(7, 0);
  CHECK(process.said() == "combine:7 contribution>1/accumulator");
  process.contribution(1, 0);
  CHECK(process.said() == "combine:1 deliver:5");
}

TEST_CASE("doubling: a part that comes early is folded once the own one was sent") {
  OneProcess process(eight_doubling, 5);
  for (int from : {1, 7, 4}) process.contribution(from, 0);
  CHECK(process.said() == "contribution>4/input");
  CHECK(process.wake());
  CHECK(process.said() == "combine:4 contribution>7/accumulator");
  CHECK(process.wake());
  CHECK(process.said() == "combine:7 contribution>1/accumulator");
  CHECK(process.wake());
  CHECK(process.said() == "combine:1 deliver:5");
  CHECK_FALSE(process.wake());
}

TEST_CASE("doubling: who is beyond the largest power of two is below a root") {
  const FtcoAllreduceConfig six = doubling(6, 4);  // 0 with 1, 2 with 3, 4, 5
  OneProcess below(six, 3);
  CHECK(below.said() == "contribution>2/input");
  OneProcess root(six, 2);
  root.contribution(3, 0);
  root.contribution(0, 0);
  CHECK(root.said() == "combine:3 contribution>0/accumulator");
  CHECK(root.wake());
  root.contribution(5, 0);
  CHECK(root.said() == "combine:0 contribution>5/accumulator");
  CHECK(root.wake());
  CHECK(root.said() == "combine:5 deliver:2 result>3/result");

  OneProcess alone(six, 2, {3});
  CHECK(alone.said() == "exclude:3 contribution>0/accumulator");
}

TEST_CASE("doubling: when any root dies, all begin again on one tree") {
  OneProcess process(eight_doubling, 5);
  process.contribution(4, 0);
  process.said();
  process.suspect(3);
  CHECK(process.said() == "restart@1 contribution>4/input");
}

TEST_CASE("doubling: who has delivered before a root dies reports what was decided") {
  OneProcess process(eight_doubling, 7);
  for (int from : {6, 5, 3}) {
    process.said();
    process.contribution(from, 0);
  }
  CHECK(process.said() == "combine:3 deliver:7");
  process.suspect(0);
  CHECK(process.said() == "restart@2 contribution>5/result#0");
}

TEST_CASE("reduce: the others learn that it is over, and are free when the root dies") {
  constexpr FtcoAllreduceConfig to_three{8, 2, Rank{3}, false};
  OneProcess child(to_three, 4);
  CHECK(child.said() == "contribution>3/input");
  child.suspect(3);
  CHECK(child.said() == "deliver:3");
  child.suspect(5);
  CHECK(child.said() == "");

  OneProcess root(to_three, 3);
  for (int from : {4, 5, 7}) root.contribution(from, 0);
  CHECK(root.said() ==
        "combine:4 combine:5 combine:7 deliver:3 result>4/none result>5/none result>7/none");

  OneProcess late(to_three, 0, {3});
  CHECK(late.said() == "deliver:3");
}

}  // namespace
}  // namespace resprout::protocols
