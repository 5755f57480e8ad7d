// To which checkpoint a job goes back.
#include "runtime/checkpoints/recovery.hpp"

#include <algorithm>
#include <array>

#include "doctest/doctest.h"

namespace resprout::runtime {
namespace {

Holding memory_of(int rank, std::uint64_t generation, std::uint64_t counted = 0) {
  return {.holder = rank, .owner = rank, .generation = generation, .counted = counted};
}

TEST_CASE("the newest checkpoint is gone back to of which all have their parts") {
  const std::vector<Holding> holdings{memory_of(0, 4), memory_of(0, 5), memory_of(1, 4),
                                      memory_of(2, 5), memory_of(2, 4)};
  const Recovery recovery = find_recovery(holdings, {}, 3);
  CHECK(recovery.generation == 4);
  CHECK(recovery.newest == 5);
  REQUIRE(recovery.of_owners.size() == 3);
  for (int owner = 0; owner < 3; ++owner) CHECK(recovery.of_owners[owner].owner == owner);
}

TEST_CASE("where there is nothing, or nothing was whole yet, the job begins anew") {
  CHECK(find_recovery({}, {}, 2).generation == 0);
  CHECK(find_recovery({}, {}, 2).counted == 0);
  const std::vector<Holding> holdings{memory_of(1, 1)};
  const Recovery recovery = find_recovery(holdings, {}, 2);
  CHECK(recovery.generation == 0);
  CHECK(recovery.counted == 0);
  CHECK(recovery.newest == 1);
}

TEST_CASE("if a checkpoint is lost that was whole it is known whose part is") {
  const std::vector<Holding> holdings{memory_of(0, 7, 6), memory_of(0, 6, 5), memory_of(2, 6, 5)};
  const Recovery recovery = find_recovery(holdings, {}, 4);
  CHECK(recovery.generation == 0);
  CHECK(recovery.counted == 6);
  CHECK(recovery.lost == std::vector<int>{1, 3});
}

TEST_CASE("a part is read where that is the least trouble") {
  std::vector<Holding> holdings{
      {.holder = 1, .owner = 0, .place = Held::file, .generation = 3},
      {.holder = 2, .owner = 0, .place = Held::other_memory, .generation = 3},
      {.holder = 1, .owner = 0, .place = Held::other_memory, .generation = 3},
      memory_of(1, 3)};
  const auto source = [&] { return find_recovery(holdings, {}, 2).of_owners.at(0); };
  CHECK(source().holder == 1);
  CHECK(source().place == Held::other_memory);
  holdings.push_back(memory_of(0, 3));
  CHECK(source().holder == 0);
  CHECK(source().place == Held::own_memory);
}

// Each rank takes checkpoints as LastingCheckpoints does: the next one only when all have the last.
TEST_CASE("wherever ranks stop there is a whole checkpoint, not older than the last that counts") {
  constexpr int ranks = 3;
  // How many steps each rank has done: `2g - 1`, it is at work on g; `2g`, it has g.
  for (int a = 0; a <= 8; ++a)
    for (int b = 0; b <= 8; ++b)
      for (int c = 0; c <= 8; ++c) {
        const std::array<int, ranks> steps{a, b, c};
        const auto [least, most] = std::minmax({a, b, c});
        // To begin with g all have to have g - 1.
        if ((most + 1) / 2 - 1 > least / 2) continue;
        std::vector<Holding> holdings;
        for (int rank = 0; rank < ranks; ++rank) {
          const auto has = static_cast<std::uint64_t>(steps[rank] / 2);
          const bool is_at_work = steps[rank] % 2 == 1;
          if (has > 0) holdings.push_back(memory_of(rank, has, has - 1));
          if (has > 1 && !is_at_work) holdings.push_back(memory_of(rank, has - 1, has - 2));
        }
        CAPTURE(a);
        CAPTURE(b);
        CAPTURE(c);
        CHECK(find_recovery(holdings, {}, ranks).generation ==
              static_cast<std::uint64_t>(least / 2));
      }
}

CodeGroup group_of(const std::vector<int>& members) {
  CodeGroup group;
  for (const int member : members) {
    group.members[group.count] = member;
    group.bytes[group.count++] = static_cast<std::uint64_t>(100 + member);
  }
  return group;
}

CodeHolding code_of(int rank, std::uint64_t generation, const CodeGroup& group) {
  return {.holder = rank,
          .keeper = rank,
          .generation = generation,
          .counted = generation - 1,
          .group = group};
}

TEST_CASE("a part that is lost follows from the others of its group") {
  const CodeGroup group = group_of({0, 2, 3});
  std::vector<Holding> holdings{memory_of(0, 4, 4), memory_of(1, 4), memory_of(3, 4)};
  std::vector<CodeHolding> codes{code_of(0, 4, group), code_of(3, 4, group)};
  codes[1].holder = 1;
  const Recovery recovery = find_recovery(holdings, codes, 4);
  CHECK(recovery.generation == 4);
  REQUIRE(recovery.rebuilt.size() == 1);
  CHECK(recovery.rebuilt[0].owner == 2);
  CHECK(recovery.rebuilt[0].holders == std::vector<int>{0, -1, 1});
  CHECK(recovery.of_owners[2].place == Held::code);
  CHECK(recovery.of_owners[2].bytes == 102);
  SUBCASE("not without what one of them keeps") {
    codes.pop_back();
    CHECK(find_recovery(holdings, codes, 4).generation == 0);
    CHECK(find_recovery(holdings, codes, 4).lost == std::vector<int>{2});
  }
  SUBCASE("not without the part of another one") {
    holdings.pop_back();
    CHECK(find_recovery(holdings, codes, 4).lost == std::vector<int>{2, 3});
  }
  SUBCASE("not from parts of different groups") {
    codes[1].group = group_of({1, 2, 3});
    CHECK(find_recovery(holdings, codes, 4).generation == 0);
  }
  SUBCASE("what somebody has is not rebuilt") {
    holdings.push_back({.holder = 1, .owner = 2, .place = Held::file, .generation = 4});
    CHECK(find_recovery(holdings, codes, 4).rebuilt.empty());
  }
}

TEST_CASE("ranks of different groups are rebuilt at once") {
  const CodeGroup even = group_of({0, 2, 4});
  const CodeGroup odd = group_of({1, 3, 5});
  std::vector<Holding> holdings;
  std::vector<CodeHolding> codes;
  for (const int rank : {0, 3, 4, 5}) {
    holdings.push_back(memory_of(rank, 9));
    codes.push_back(code_of(rank, 9, rank % 2 == 0 ? even : odd));
  }
  const Recovery recovery = find_recovery(holdings, codes, 6);
  CHECK(recovery.generation == 9);
  REQUIRE(recovery.rebuilt.size() == 2);
  CHECK(recovery.rebuilt[0].owner == 1);
  CHECK(recovery.rebuilt[1].owner == 2);
}

// Of each generation a rank writes its part, then its share of the code, for which the others of
// its group have to have their parts. The next one begins when all ranks have both.
TEST_CASE("a checkpoint that counts is rebuilt, wherever three ranks stop and one is lost") {
  constexpr int ranks = 3;
  constexpr int steps_of_one = 4;  // is writing, has the part, is writing the code, has both
  constexpr int steps_max = 3 * steps_of_one;
  const CodeGroup group = group_of({0, 1, 2});
  int states = 0;
  for (int a = 0; a <= steps_max; ++a)
    for (int b = 0; b <= steps_max; ++b)
      for (int c = 0; c <= steps_max; ++c) {
        const std::array<int, ranks> steps{a, b, c};
        const auto [least, most] = std::minmax({a, b, c});
        const int begun = (most + steps_of_one - 1) / steps_of_one;
        if (begun > 0 && least < (begun - 1) * steps_of_one) continue;
        // Who writes the code of a generation has had the parts of all.
        if (begun > 0 && most > (begun - 1) * steps_of_one + 2 &&
            least < (begun - 1) * steps_of_one + 2)
          continue;
        ++states;
        for (int lost = -1; lost < ranks; ++lost) {
          std::vector<Holding> holdings;
          std::vector<CodeHolding> codes;
          for (int rank = 0; rank < ranks; ++rank) {
            if (rank == lost) continue;
            // It writes over the part, and the code, of the one before the last.
            for (int it = std::max(1, begun - 2); it <= begun; ++it) {
              const int first = (it - 1) * steps_of_one;
              const int done = steps[rank] - first;
              const bool is_part_gone = done > 2 * steps_of_one;
              const bool is_code_gone = done > 2 * steps_of_one + 2;
              const auto generation = static_cast<std::uint64_t>(it);
              if (done >= 2 && !is_part_gone)
                holdings.push_back(memory_of(rank, generation, generation - 1));
              if (done >= 4 && !is_code_gone) codes.push_back(code_of(rank, generation, group));
            }
          }
          CAPTURE(a);
          CAPTURE(b);
          CAPTURE(c);
          CAPTURE(lost);
          const auto counts = static_cast<std::uint64_t>(least / steps_of_one);
          const Recovery found = find_recovery(holdings, codes, ranks);
          CHECK(found.generation >= counts);
          CHECK(found.generation <= static_cast<std::uint64_t>(begun));
        }
      }
  CHECK(states > 60);
}

}  // namespace
}  // namespace resprout::runtime
