// See service_distance.hpp.
#include "protocols/ftco_in_band/service_distance.hpp"

#include <vector>

#include "doctest/doctest.h"

namespace resprout::protocols {
namespace {

// How often each distance is attended to in so many steps; the last element: all beyond.
template <typename F>
std::vector<std::int64_t> shares(std::int64_t steps, F distance) {
  std::vector<std::int64_t> counts(12);
  for (std::int64_t step = 0; step < steps; ++step) {
    const auto at = static_cast<std::size_t>(distance(static_cast<std::uint64_t>(step)));
    REQUIRE(at >= 1);
    ++counts[std::min(at, counts.size() - 1)];
  }
  return counts;
}

}  // namespace

TEST_CASE("at random, each distance gets half of the steps of the one before") {
  const std::int64_t steps = 1 << 20;
  const auto counts =
      shares(steps, [](std::uint64_t step) { return randomized_distance(7, step); });
  for (std::size_t d = 1; d < 8; ++d) {
    const std::int64_t expected = steps >> d;
    CHECK(counts[d] > expected - expected / 16);
    CHECK(counts[d] < expected + expected / 16);
  }
}

TEST_CASE("in intervals, half of each interval is for distance 1, a quarter for 2, and so on") {
  for (const std::int32_t neighbors : {1, 2, 3, 8, 41}) {
    const std::int64_t interval = interval_of(neighbors);
    CAPTURE(interval);
    const auto counts = shares(
        interval * 256, [=](std::uint64_t step) { return interval_distance(interval, step); });
    CHECK(counts[1] == interval / 2 * 256);
    CHECK(counts[2] >= interval / 4 * 256);
    for (std::size_t d = 2; d < counts.size(); ++d) CHECK(counts[d] <= counts[d - 1]);
  }
}

TEST_CASE("no distance starves") {
  const auto counts =
      shares(4 * 4096, [](std::uint64_t step) { return interval_distance(4, step); });
  for (std::size_t d = 1; d < counts.size(); ++d) CHECK(counts[d] > 0);
}

}  // namespace resprout::protocols
