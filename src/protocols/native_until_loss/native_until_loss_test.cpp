// The machine of one process, told by hand what the others say. Rounds 2r are the settlement's,
// 2r + 1 the redo's.
#include "protocols/native_until_loss/native_until_loss.hpp"

#include "doctest/doctest.h"
#include "protocols/one_process_test.hpp"

namespace resprout::protocols {
namespace {

using OneProcess = testing::OneProcess<NativeUntilLoss>;

const NativeUntilLossConfig eight(8, 2);

void partial(OneProcess& process, int from) { process.hear(MessageKind::tree, from); }
void not_here(OneProcess& process, int from, int round) {
  process.hear(MessageKind::contribution, from, round, 0, Slot::none);
}
void nobody_has_it(OneProcess& process, int from, int round) {
  process.hear(MessageKind::result, from, round, 0, Slot::none);
}

TEST_CASE("without a loss the library goes up the binomial tree and down, and nothing else") {
  OneProcess process(eight, 4);
  partial(process, 6);
  CHECK(process.said() == "");
  partial(process, 5);
  CHECK(process.said() == "combine:5 combine:6 tree>0/accumulator");
  partial(process, 0);
  CHECK(process.said() == "deliver:0 tree>5/result tree>6/result");
}

TEST_CASE("the first process has the result first") {
  OneProcess process(eight, 0);
  for (int child : {1, 2, 4}) partial(process, child);
  CHECK(process.said() ==
        "combine:1 combine:2 combine:4 deliver:0 tree>1/result tree>2/result tree>4/result");
}

TEST_CASE("a process alone delivers its own input") {
  const NativeUntilLossConfig one(1, 2);
  OneProcess process(one, 0);
  CHECK(process.said() == "deliver:0");
}

TEST_CASE("who is interrupted says that it has no result, and takes none from the library") {
  OneProcess process(eight, 7);
  CHECK(process.said() == "tree>6/input");
  process.suspect(3);
  CHECK(process.said() == "contribution>6/none");
  partial(process, 6);
  CHECK(process.said() == "");
}

TEST_CASE("who knows of a loss does not enter the library") {
  OneProcess process(eight, 7, {3});
  CHECK(process.said() == "contribution>6/none");
}

TEST_CASE("who has returned settles with its result, and says nothing a second time") {
  OneProcess process(eight, 7);
  CHECK(process.said() == "tree>6/input");
  partial(process, 6);
  CHECK(process.said() == "deliver:6");
  process.suspect(3);
  CHECK(process.said() == "contribution>6/result");
  process.result(6, 0);
  CHECK(process.said() == "");
}

TEST_CASE("a message of the settlement interrupts as a suspicion does") {
  OneProcess process(eight, 6);
  not_here(process, 7, 0);
  CHECK(process.said() == "contribution>4/none");
  process.result(4, 0);
  CHECK(process.said() == "deliver:4 result>7/result");
}

TEST_CASE("any result will do: the first that is heard of is taken, others are not moved") {
  OneProcess process(eight, 4);
  process.suspect(3);
  process.contribution(5, 0);
  process.contribution(6, 0);
  CHECK(process.said() == "adopt:5 contribution>0/accumulator");
}

TEST_CASE("a settlement without a result is followed by an allreduce of the inputs") {
  OneProcess process(eight, 6);
  process.suspect(3);
  not_here(process, 7, 0);
  CHECK(process.said() == "contribution>4/none");
  nobody_has_it(process, 4, 0);
  CHECK(process.said() == "restart@0 result>7/none");
  process.contribution(7, 1);
  CHECK(process.said() == "combine:7 contribution>4/accumulator");
  process.result(4, 1);
  CHECK(process.said() == "deliver:4 result>7/result");
}

TEST_CASE("a contribution to the redo waits for the end of the settlement") {
  OneProcess process(eight, 6);
  process.suspect(3);
  process.contribution(7, 1);
  not_here(process, 7, 0);
  CHECK(process.said() == "contribution>4/none");
  nobody_has_it(process, 4, 0);
  CHECK(process.said() == "restart@0 combine:7 result>7/none contribution>4/accumulator");
}

TEST_CASE("the first process that suspects all before it decides, and begins the redo") {
  const NativeUntilLossConfig two(2, 2);
  OneProcess process(two, 1);
  CHECK(process.said() == "tree>0/input");
  process.suspect(0);
  CHECK(process.said() == "restart@2 exclude:0 deliver:1");
}

TEST_CASE("a loss during the redo repairs it and the settlement, each in its next round") {
  OneProcess process(eight, 7);
  process.suspect(3);
  nobody_has_it(process, 6, 0);
  CHECK(process.said() == "restart@0 contribution>6/input");
  process.suspect(0);
  CHECK(process.said() == "restart@2 contribution>5/none#0 contribution>5/input");
}

TEST_CASE("who is overruled by a result leaves the redo: it is suspected by others") {
  OneProcess process(eight, 5);
  process.suspect(3);
  nobody_has_it(process, 4, 0);
  CHECK(process.said() == "restart@0 contribution>4/input");
  process.result(1, 2);
  CHECK(process.said() == "adopt:1 result>6/accumulator result>7/accumulator");
  process.result(4, 1);
  CHECK(process.said() == "");
}

}  // namespace
}  // namespace resprout::protocols
