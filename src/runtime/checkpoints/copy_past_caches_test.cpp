// Copying past the caches: every byte arrives, and none beside.
#include "runtime/checkpoints/copy_past_caches.hpp"

#include <algorithm>
#include <random>
#include <vector>

#include "doctest/doctest.h"

namespace resprout::runtime {
namespace {

TEST_CASE("what is copied past the caches is what memcpy would copy, from and to any place") {
  constexpr std::size_t room = 100'000;
  constexpr std::byte untouched{0xa5};
  std::mt19937 draw(7);
  std::vector<std::byte> from(room);
  for (std::byte& byte : from) byte = std::byte(draw());
  for (const std::size_t bytes : {0UL, 1UL, 15UL, 4096UL, 16383UL, 16384UL, 16400UL, 70001UL})
    for (int attempt = 0; attempt < 20; ++attempt) {
      const std::size_t begin = draw() % (room - bytes);
      const std::size_t at = draw() % (room - bytes);
      CAPTURE(bytes);
      CAPTURE(begin);
      CAPTURE(at);
      std::vector<std::byte> into(room, untouched);
      copy_past_caches(into.data() + at, from.data() + begin, bytes);
      std::vector<std::byte> expected(room, untouched);
      std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(begin), bytes,
                  expected.begin() + static_cast<std::ptrdiff_t>(at));
      CHECK(into == expected);
    }
}

}  // namespace
}  // namespace resprout::runtime
