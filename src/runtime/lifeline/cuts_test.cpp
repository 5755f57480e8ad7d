#include "runtime/lifeline/cuts.hpp"

#include <vector>

#include "doctest/doctest.h"

using namespace resprout::runtime;

namespace {

constexpr std::int64_t window = 100;

// What all members come to if everybody decides what is his to decide: who goes, in order.
std::vector<int> who_goes(const Cuts& cuts, int size) {
  std::vector<int> gone;
  std::vector<Roster> rosters;
  for (int rank = 0; rank < size; ++rank) rosters.emplace_back(rank, size);
  for (bool has_changed = true; has_changed;) {
    has_changed = false;
    for (int self = 0; self < size; ++self) {
      const Roster& roster = rosters[static_cast<std::size_t>(self)];
      if (!roster.is_alive(self)) continue;
      const auto verdict = cuts.verdict(roster, window, window);
      if (!verdict) continue;
      has_changed = true;
      gone.push_back(verdict->rank);
      for (Roster& each : rosters) each.note(verdict->rank, Standing::lost);
    }
  }
  return gone;
}

}  // namespace

TEST_CASE("a host that is cut off from two others loses its ranks, the others keep theirs") {
  for (const int cut_off : {0, 2, 4}) {
    CAPTURE(cut_off);
    Cuts cuts({0, 0, 2, 2, 4, 4});
    for (int end = cut_off; end < cut_off + 2; ++end)
      for (int other = 0; other < 6; ++other)
        if (other / 2 != end / 2) cuts.note(other, end, 0);
    CHECK(who_goes(cuts, 6).size() == 2);
    for (const int rank : who_goes(cuts, 6)) CHECK(rank / 2 == cut_off / 2);
  }
}

TEST_CASE("of two halves the smaller one goes; of equal ones that with the higher ranks") {
  Cuts unequal({0, 1, 1, 1});
  for (int rank = 1; rank < 4; ++rank) unequal.note(0, rank, 0);
  CHECK(who_goes(unequal, 4) == std::vector<int>{0});
  // Ranks in turns: all of host 1 go, whichever link is looked at first.
  Cuts equal({0, 1, 0, 1});
  equal.note(2, 1, 0);
  equal.note(2, 3, 0);
  equal.note(0, 3, 0);
  CHECK(who_goes(equal, 4) == std::vector<int>{1, 3});
}

TEST_CASE("of each silent link one end goes, and nobody else") {
  Cuts cuts({0, 1, 2});
  cuts.note(1, 2, 0);
  cuts.note(2, 1, 0);
  CHECK(who_goes(cuts, 3) == std::vector<int>{2});
  Cuts two({0, 1});
  two.note(1, 0, 0);
  CHECK(who_goes(two, 2) == std::vector<int>{1});
}

TEST_CASE("nothing is decided before the window is over, nor by anybody but the judge") {
  Cuts cuts({0, 1, 2, 3});
  cuts.note(0, 3, 50);
  CHECK_FALSE(cuts.verdict(Roster(1, 4), 149, window));
  CHECK(cuts.verdict(Roster(1, 4), 150, window));
  for (const int other : {0, 2, 3}) CHECK_FALSE(cuts.verdict(Roster(other, 4), 150, window));
  Roster after_a_loss(2, 4);
  after_a_loss.note(1, Standing::lost);
  CHECK(cuts.verdict(after_a_loss, 150, window)->rank == 3);
}

TEST_CASE("inside of a host there are no cuts, and a link with the lost is no matter any more") {
  Cuts cuts({0, 0, 2});
  cuts.note(0, 1, 0);
  CHECK_FALSE(cuts.verdict(Roster(2, 3), 1000, window));
  cuts.note(0, 2, 0);
  Roster roster(1, 3);
  CHECK(cuts.verdict(roster, 1000, window));
  roster.note(2, Standing::lost);
  CHECK_FALSE(cuts.verdict(roster, 1000, window));
}
