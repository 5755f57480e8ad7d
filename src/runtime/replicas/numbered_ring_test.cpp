#include "runtime/replicas/numbered_ring.hpp"

#include <map>

#include "core/random.hpp"
#include "doctest/doctest.h"

using namespace resprout;
using namespace resprout::runtime;

TEST_CASE("a numbered ring has what a map has, whatever the order") {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    NumberedRing<std::uint64_t> ring;
    std::map<std::uint64_t, std::uint64_t> map;
    std::uint64_t first = 1;
    for (int step = 0; step < 300; ++step) {
      const std::uint64_t number = first + random.below(40);
      if (random.below(8) == 0) {
        first = number;
        ring.drop_below(first);
        map.erase(map.begin(), map.lower_bound(first));
        CHECK(ring.make(first - 1) == nullptr);
      } else {
        *ring.make(number) = map[number] = number * 3 + seed;
      }
      for (std::uint64_t at = first > 5 ? first - 5 : 1; at < first + 45; ++at) {
        const std::uint64_t* found = ring.find(at);
        const auto expected = map.find(at);
        CHECK((found == nullptr ? 0 : *found) == (expected == map.end() ? 0 : expected->second));
      }
    }
    std::map<std::uint64_t, std::uint64_t> all;
    ring.for_each([&](std::uint64_t number, std::uint64_t value) {
      if (value != 0) all[number] = value;
    });
    CHECK(all == map);
  }
}

TEST_CASE("a numbered ring does not reach far") {
  NumberedRing<std::uint64_t> ring;
  CHECK(ring.make(NumberedRing<std::uint64_t>::reach + 1) == nullptr);
  CHECK(ring.make(NumberedRing<std::uint64_t>::reach) != nullptr);
  ring.drop_below(2);
  CHECK(ring.make(NumberedRing<std::uint64_t>::reach + 1) != nullptr);
}
