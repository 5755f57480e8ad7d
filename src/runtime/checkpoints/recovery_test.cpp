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
  const Recovery recovery = find_recovery(holdings, 3);
  CHECK(recovery.generation == 4);
  CHECK(recovery.newest == 5);
  REQUIRE(recovery.of_owners.size() == 3);
  for (int owner = 0; owner < 3; ++owner) CHECK(recovery.of_owners[owner].owner == owner);
}

TEST_CASE("where there is nothing, or nothing was whole yet, the job begins anew") {
  CHECK(find_recovery({}, 2).generation == 0);
  CHECK(find_recovery({}, 2).counted == 0);
  const std::vector<Holding> holdings{memory_of(1, 1)};
  const Recovery recovery = find_recovery(holdings, 2);
  CHECK(recovery.generation == 0);
  CHECK(recovery.counted == 0);
  CHECK(recovery.newest == 1);
}

TEST_CASE("if a checkpoint is lost that was whole it is known whose part is") {
  const std::vector<Holding> holdings{memory_of(0, 7, 6), memory_of(0, 6, 5), memory_of(2, 6, 5)};
  const Recovery recovery = find_recovery(holdings, 4);
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
  const auto source = [&] { return find_recovery(holdings, 2).of_owners.at(0); };
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
        CHECK(find_recovery(holdings, ranks).generation == static_cast<std::uint64_t>(least / 2));
      }
}

}  // namespace
}  // namespace resprout::runtime
