#include "runtime/transports/shm/arena.hpp"

#include <cstring>
#include <vector>

#include "core/random.hpp"
#include "doctest/doctest.h"

namespace resprout::runtime {
namespace {

alignas(64) std::byte memory[1 << 16];

TEST_CASE("an arena that has handed out everything says so, and gives it again when it is freed") {
  Arena arena(memory, sizeof memory);
  std::byte* const all = arena.allocate(sizeof memory);
  CHECK(all == memory);
  CHECK(arena.allocate(1) == nullptr);
  arena.free(all);
  CHECK(arena.allocate(sizeof memory) == memory);
  Arena none(nullptr, 0);
  CHECK(none.allocate(1) == nullptr);
  CHECK_FALSE(none.contains({memory, 1}));
}

TEST_CASE("only what lies wholly inside is contained") {
  const Arena arena(memory + 64, 64);
  CHECK(arena.contains({memory + 64, 64}));
  CHECK(arena.contains({memory + 100, 5}));
  CHECK_FALSE(arena.contains({memory + 63, 5}));
  CHECK_FALSE(arena.contains({memory + 100, 64}));
  CHECK_FALSE(arena.contains({memory, 256}));
}

TEST_CASE("blocks never overlap, and all of the memory comes back, whatever the order") {
  Random random(3);
  for (int run = 0; run < 50; ++run) {
    Arena arena(memory, sizeof memory);
    std::vector<std::pair<std::byte*, std::size_t>> blocks;
    for (int step = 0; step < 300; ++step) {
      if (random.chance(3, 5)) {
        const std::size_t bytes = random.below(3000);
        std::byte* const block = arena.allocate(bytes);
        if (block == nullptr) continue;
        std::memset(block, static_cast<int>(blocks.size() % 251), bytes);
        for (const auto& [other, length] : blocks)
          CHECK((block + bytes <= other || other + length <= block));
        blocks.emplace_back(block, bytes);
      } else if (!blocks.empty()) {
        const auto victim = static_cast<std::ptrdiff_t>(random.below(blocks.size()));
        arena.free(blocks[static_cast<std::size_t>(victim)].first);
        blocks.erase(blocks.begin() + victim);
      }
    }
    for (const auto& [block, length] : blocks) arena.free(block);
    CHECK(arena.allocate(sizeof memory) == memory);
  }
}

}  // namespace
}  // namespace resprout::runtime
