// See mailboxes.hpp.
#include "sim/logp/mailboxes.hpp"

#include "doctest/doctest.h"

using namespace resprout;
using namespace resprout::sim;

namespace {

Message contribution(int from, std::uint32_t round) {
  return {rank_at(from), rank_at(1), round, MessageKind::contribution, Slot::accumulator, 0};
}

}  // namespace

TEST_CASE("there are no mailboxes until somebody keeps a message") {
  Mailboxes<int> boxes(3);
  CHECK_FALSE(boxes.exist());
  boxes.keep(contribution(0, 0), 5);
  CHECK(boxes.exist());
  CHECK(boxes.view(rank_at(0)).count == 0);
  boxes.clear();
  CHECK_FALSE(boxes.exist());
}

TEST_CASE("a kept message is found with its payload until it is combined or its round is over") {
  Mailboxes<int> boxes(3);
  for (int from = 0; from < 3; ++from)
    boxes.keep(contribution(from, static_cast<std::uint32_t>(from)), 10 + from);
  const Rank owner = rank_at(1);
  REQUIRE(boxes.view(owner).count == 3);
  REQUIRE(boxes.find(owner, contribution(2, 2)) != nullptr);
  CHECK(*boxes.find(owner, contribution(2, 2)) == 12);
  CHECK(boxes.find(owner, contribution(2, 1)) == nullptr);

  boxes.drop(owner, {EventKind::exclude, contribution(2, 2)});
  CHECK(boxes.view(owner).count == 3);
  boxes.drop(owner, {EventKind::combine, contribution(2, 2)});
  CHECK(boxes.find(owner, contribution(2, 2)) == nullptr);
  boxes.drop(owner, {EventKind::restart, contribution(0, 1)});
  CHECK(boxes.view(owner).count == 1);
  CHECK(*boxes.find(owner, contribution(1, 1)) == 11);
  boxes.drop(owner, {EventKind::deliver, contribution(0, 1)});
  CHECK(boxes.view(owner).count == 0);
}
