// The machine of one process, told by hand what the others say.
#include "protocols/prefix_chain/prefix_chain.hpp"

#include <array>

#include "doctest/doctest.h"
#include "protocols/one_process_test.hpp"

namespace resprout::protocols {
namespace {

using OneProcess = testing::OneProcess<PrefixChain>;

const PrefixChainConfig six{6};

void sum(OneProcess& process, int from) { process.hear(MessageKind::contribution, from); }

TEST_CASE("a chain goes from each to the next, and the first waits for nobody") {
  OneProcess first(six, 0);
  CHECK(first.said() == "deliver:0 contribution>1/accumulator");
  OneProcess last(six, 5);
  CHECK(last.said() == "");
  sum(last, 4);
  CHECK(last.said() == "combine:4 deliver:5");
}

TEST_CASE("the suspected are left out, and their next one gets the sum as well") {
  OneProcess process(six, 3);
  process.suspect(2);
  CHECK(process.said() == "");
  sum(process, 1);
  CHECK(process.said() == "combine:1 exclude:2 deliver:3 contribution>4/accumulator");
  process.suspect(4);
  CHECK(process.said() == "contribution>5/accumulator");
  process.suspect(5);
  CHECK(process.said() == "");
}

TEST_CASE("a sum from below somebody who is not suspected has to wait for that one's") {
  OneProcess process(six, 3);
  sum(process, 0);
  process.suspect(2);
  CHECK(process.said() == "");
  process.suspect(1);
  CHECK(process.said() == "combine:0 exclude:1 exclude:2 deliver:3 contribution>4/accumulator");
}

TEST_CASE("a sum that has come counts, though its sender is suspected by now") {
  OneProcess process(six, 3);
  process.suspect(2);
  sum(process, 2);
  CHECK(process.said() == "combine:2 deliver:3 contribution>4/accumulator");
  sum(process, 1);
  CHECK(process.said() == "");
}

TEST_CASE("who lives alone below it has its own input") {
  OneProcess process(six, 2, {0, 1});
  CHECK(process.said() == "exclude:0 exclude:1 deliver:2 contribution>3/accumulator");
}

TEST_CASE("who has begun with a sum takes no other, and passes it on") {
  const PrefixChainConfig summed{6, true};
  OneProcess process(summed, 3, {2});
  CHECK(process.said() == "deliver:3 contribution>4/accumulator");
  sum(process, 1);
  CHECK(process.said() == "");
}

TEST_CASE("whose sum is waited for is the nearest one below that is not suspected") {
  const PrefixChain machine(six, rank_at(3));
  const std::array<Rank, 1> suspects{rank_at(2)};
  const Context context{Time{0}, {suspects.data(), 1}, {}};
  std::int32_t place = 0;
  CHECK(machine.next_due(context, place) == rank_at(1));
  CHECK(machine.next_due(context, place) == no_rank);
}

}  // namespace
}  // namespace resprout::protocols
