// A few identifiers with what is known of them.
#include "protocols/local_membership/changes.hpp"

#include "doctest/doctest.h"
#include "protocols/local_membership/message.hpp"

namespace resprout::protocols {
namespace {

TEST_CASE("what is known adds up, in the order of the identifiers, whatever came first") {
  Changes<4> some;
  Changes<4> others;
  for (int id : {9, 2, 5}) CHECK(some.note(rank_at(id), Change::hole));
  for (int id : {5, 9, 2}) CHECK(others.note(rank_at(id), Change::hole));
  CHECK(some == others);
  CHECK(some.note(rank_at(5), Change::fenced));
  CHECK(some.is(rank_at(5), Change::hole | Change::fenced));
  CHECK_FALSE(some.is(rank_at(9), Change::fenced));
  CHECK(some.of(rank_at(4)) == 0);
  CHECK(some.count(Change::hole) == 3);
  CHECK(some.begin()->id == rank_at(2));
}

TEST_CASE("who is one too many is not noted, but those who are there may be known better") {
  Changes<2> full;
  CHECK(full.note(rank_at(1), Change::fenced));
  CHECK(full.note(rank_at(2), Change::fenced));
  CHECK_FALSE(full.note(rank_at(3), Change::fenced));
  CHECK(full.note(rank_at(2), Change::dead));
  CHECK(full.size() == 2);
}

TEST_CASE("who has nothing left but what is idle is forgotten, without a trace") {
  Changes<4> known;
  known.note(rank_at(1), Change::fenced | Change::dead);
  known.note(rank_at(2), Change::view_due | Change::dead);
  known.note(rank_at(3), Change::hole);
  CHECK(known.take(Change::view_due) == rank_at(2));
  CHECK(known.take(Change::view_due) == no_rank);
  known.forget(Change::fenced, Change::dead);
  Changes<4> left;
  left.note(rank_at(3), Change::hole);
  CHECK(known == left);
}

TEST_CASE("a tally is that of the set, in whatever order it was summed up") {
  Tally without = Tally::first(6);
  without -= Tally::of(rank_at(2));
  Tally backwards;
  for (int id : {5, 4, 3, 1, 0}) backwards += Tally::of(rank_at(id));
  CHECK(without == backwards);
  CHECK(without.count == 5);
  without += Tally::of(rank_at(6));
  CHECK(without != Tally::first(6));
  CHECK(without.count == 6);
}

}  // namespace
}  // namespace resprout::protocols
