// The machine of one process, told by hand what the others say. Rounds 2r are the vote's, 2r + 1
// the confirmation's.
#include "protocols/agreement/agreement.hpp"

#include "doctest/doctest.h"
#include "protocols/one_process_test.hpp"

namespace resprout::protocols {
namespace {

using OneProcess = testing::OneProcess<Agreement>;

constexpr AgreementConfig eight{8, 2};

void confirms(OneProcess& process, int from, int round = 1) {
  process.hear(MessageKind::contribution, from, round, 0, Slot::none);
}

TEST_CASE("a process alone decides its own input") {
  constexpr AgreementConfig one{1, 2};
  OneProcess process(one, 0);
  CHECK(process.said() == "deliver:0");
}

TEST_CASE("a coordinator decides when all below it have confirmed what it proposes") {
  OneProcess process(eight, 0);
  for (int child : {1, 2, 4}) process.contribution(child, 0);
  CHECK(process.said() ==
        "combine:1 combine:2 combine:4 result>1/accumulator result>2/accumulator "
        "result>4/accumulator");
  confirms(process, 4);
  confirms(process, 1);
  CHECK(process.said() == "");
  confirms(process, 2);
  CHECK(process.said() ==
        "deliver:0 result>1/accumulator result>2/accumulator result>4/accumulator");
}

TEST_CASE("others confirm when all below them have, and return when it is decided") {
  OneProcess process(eight, 4);
  process.contribution(5, 0);
  process.contribution(6, 0);
  CHECK(process.said() == "combine:5 combine:6 contribution>0/accumulator");
  process.result(0, 0);
  CHECK(process.said() == "adopt:0 result>5/accumulator result>6/accumulator");
  confirms(process, 5);
  CHECK(process.said() == "");
  confirms(process, 6);
  CHECK(process.said() == "contribution>0/none");
  process.result(0, 1);
  CHECK(process.said() == "deliver:4 result>5/accumulator result>6/accumulator");
  process.result(0, 1);
  CHECK(process.said() == "");
}

TEST_CASE("a decision is taken without its proposal, from whoever reaches behind a suspect") {
  OneProcess process(eight, 7);
  CHECK(process.said() == "contribution>6/input");
  process.suspect(6);
  CHECK(process.said() == "contribution>4/input");
  process.result(4, 1);
  CHECK(process.said() == "adopt:4 deliver:7");
}

TEST_CASE("a confirmation is said again to the next one above a suspect") {
  OneProcess process(eight, 7);
  process.result(6, 0);
  CHECK(process.said() == "adopt:6 contribution>6/none");
  process.suspect(6);
  CHECK(process.said() == "contribution>4/none");
}

TEST_CASE("who is suspected is not waited for, and those below it are told what is proposed") {
  OneProcess process(eight, 4);
  process.contribution(5, 0);
  process.contribution(6, 0);
  process.result(0, 0);
  CHECK(process.said() == "combine:5 combine:6 adopt:0 result>5/accumulator result>6/accumulator");
  process.suspect(6);
  confirms(process, 5);
  CHECK(process.said() == "result>7/accumulator");
  confirms(process, 7);
  CHECK(process.said() == "contribution>0/none");
}

TEST_CASE("what is proposed is taken into later rounds, and takes the place of partial results") {
  OneProcess process(eight, 7);
  process.result(6, 0);
  process.suspect(0);
  CHECK(process.said() == "adopt:6 contribution>5/accumulator#0");

  OneProcess coordinator(eight, 1, {0});
  coordinator.contribution(2, 2);
  coordinator.contribution(3, 2, 1);
  coordinator.contribution(5, 2);
  CHECK(coordinator.said() ==
        "exclude:0 combine:2 adopt:3 result>2/accumulator result>3/accumulator "
        "result>5/accumulator");
}

TEST_CASE("who has not seen a proposal begins the next round with its input") {
  OneProcess process(eight, 4);
  process.contribution(5, 0);
  CHECK(process.said() == "combine:5");
  process.suspect(0);
  CHECK(process.said() == "restart@2 contribution>3/input");
}

TEST_CASE("the word of a lower round is not heard, and nobody proposes for a coordinator") {
  OneProcess process(eight, 1, {0});
  CHECK(process.said() == "exclude:0");
  process.result(0, 0);
  process.result(0, 1);
  process.result(2, 2);
  CHECK(process.said() == "");
}

TEST_CASE("who has returned takes part in later rounds with what it returned, and stays silent") {
  OneProcess process(eight, 7);
  process.result(6, 1);
  CHECK(process.said() == "adopt:6 deliver:7");
  process.suspect(0);
  CHECK(process.said() == "contribution>5/accumulator#0");
  process.result(5, 2);
  CHECK(process.said() == "adopt:5 contribution>5/none");
  process.result(5, 3);
  CHECK(process.said() == "");
}

}  // namespace
}  // namespace resprout::protocols
