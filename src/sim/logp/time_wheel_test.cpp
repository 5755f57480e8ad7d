// See time_wheel.hpp and chunk_list.hpp.
#include "sim/logp/time_wheel.hpp"

#include <numeric>
#include <vector>

#include "doctest/doctest.h"

using namespace resprout;
using namespace resprout::sim;

namespace {

std::vector<int> taken(TimeWheel<int>& wheel, std::int64_t now) {
  std::vector<int> out;
  wheel.drain({now}, [&](int thing) { out.push_back(thing); });
  return out;
}

}  // namespace

TEST_CASE("a wheel gives back near and far things in order of time, then of insertion") {
  TimeWheel<int> wheel(10);
  wheel.push({0}, {1000}, 1);
  wheel.push({0}, {63}, 2);
  wheel.push({0}, {64}, 3);
  CHECK(wheel.next({0}) == Time{63});
  CHECK(taken(wheel, 63) == std::vector{2});
  CHECK(wheel.next({63}) == Time{64});
  CHECK(taken(wheel, 64) == std::vector{3});
  wheel.push({950}, {1000}, 4);
  CHECK(wheel.next({950}) == Time{1000});
  CHECK(taken(wheel, 1000) == std::vector{1, 4});
  CHECK(wheel.next({1000}) == never);
}

TEST_CASE("a time holds any number of things, and its memory serves other times afterwards") {
  TimeWheel<int> wheel(10);
  std::vector<int> all(100000);
  std::iota(all.begin(), all.end(), 0);
  for (std::int64_t now = 0; now < 3; ++now) {
    for (const int thing : all) wheel.push({now}, {now + 1}, thing);
    REQUIRE(taken(wheel, now + 1) == all);
    REQUIRE(wheel.next({now + 1}) == never);
  }
}

TEST_CASE("what is pushed for now while now is drained comes out at the next drain") {
  TimeWheel<int> wheel(10);
  wheel.push({5}, {5}, 1);
  wheel.drain({5}, [&](int) { wheel.push({5}, {5}, 2); });
  CHECK(wheel.next({5}) == Time{5});
  CHECK(taken(wheel, 5) == std::vector{2});
}

TEST_CASE("a writer goes on behind what is there, and writes nothing that is too far ahead") {
  TimeWheel<int> wheel(10);
  wheel.push({0}, {7}, 1);
  auto writer = wheel.writer({0}, {7});
  REQUIRE(writer.time() == Time{7});
  writer.push(2);
  wheel.push({0}, {8}, 9);
  writer.push(3);
  wheel.close(writer);
  wheel.push({0}, {7}, 4);
  CHECK(taken(wheel, 7) == std::vector{1, 2, 3, 4});

  const auto idle = wheel.writer({7}, {9});
  wheel.close(idle);
  CHECK(taken(wheel, 8) == std::vector{9});
  CHECK(wheel.next({8}) == never);
  CHECK(wheel.writer({8}, {8 + 5000}).time() == never);
}
