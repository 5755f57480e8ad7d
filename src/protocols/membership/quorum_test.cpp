// Who may decide: any two quorums of a view meet, whatever was proven.
#include "protocols/membership/quorum.hpp"

#include "doctest/doctest.h"

using namespace resprout;
using Ids = protocols::IdSet<1>;

namespace {

Ids of(std::uint32_t bits) {
  Ids ids;
  for (std::int32_t id = 0; id < 32; ++id)
    if ((bits >> id & 1) != 0) ids.add(rank_at(id));
  return ids;
}

}  // namespace

TEST_CASE(
    "a majority is a quorum, half of a view only with its root, the living if deaths are proven") {
  const Ids view = Ids::first(4);
  CHECK(protocols::is_quorum(view, {}, of(0b1110)));
  CHECK(protocols::is_quorum(view, {}, of(0b0101)));
  CHECK_FALSE(protocols::is_quorum(view, {}, of(0b1010)));
  CHECK(protocols::is_quorum(view, of(0b0101), of(0b1010)));
  CHECK_FALSE(protocols::is_quorum(view, of(0b0100), of(0b1010)));
  CHECK(protocols::is_quorum(view, of(0b0111), of(0b1000)));
  CHECK_FALSE(protocols::is_quorum(view, of(0b1111), {}));
}

TEST_CASE("of processes that live, two quorums that have nobody in common cannot both be") {
  for (std::int32_t size = 1; size <= 6; ++size)
    for (std::uint32_t dead = 0; dead < 1u << size; ++dead)
      for (std::uint32_t a = 0; a < 1u << size; ++a)
        for (std::uint32_t b = 0; b < 1u << size; ++b) {
          if ((a & b) != 0 || ((a | b) & dead) != 0) continue;
          const Ids view = Ids::first(size);
          // Each side knows of any part of the deaths; knowing all of them allows most.
          CHECK_FALSE((protocols::is_quorum(view, of(dead), of(a)) &&
                       protocols::is_quorum(view, of(dead), of(b))));
        }
}

TEST_CASE("a set counts, walks and compares over all its words") {
  protocols::IdSet<2> ids;
  CHECK(ids.is_empty());
  CHECK(ids.lowest() == no_rank);
  for (int id : {127, 0, 64, 63}) ids.add(rank_at(id));
  std::int32_t sum = 0;
  ids.for_each([&](Rank id) { sum += index(id); });
  CHECK(sum == 254);
  CHECK(ids.count() == 4);
  CHECK(ids.next(rank_at(64)) == rank_at(127));
  CHECK(ids.next(rank_at(127)) == no_rank);
  CHECK_FALSE(ids.contains(rank_at(128)));
  CHECK_FALSE(ids.contains(no_rank));
  ids.remove(rank_at(0));
  CHECK(ids.lowest() == rank_at(63));
  CHECK((ids - protocols::IdSet<2>::first(64)).count() == 2);
  CHECK(protocols::IdSet<2>::only(rank_at(64)).is_within(ids));
}
