#include "mpi/handles/operators/grid_sum.hpp"

#include <algorithm>
#include <bit>
#include <vector>

#include "core/random.hpp"
#include "doctest/doctest.h"

using namespace resprout;
using resprout::shim::GridSum;

namespace {

template <typename F>
F sum_of(const std::vector<F>& numbers) {
  GridSum sum;
  for (const F number : numbers) sum.add(GridSum(number));
  return sum.value<F>();
}

// The sum with parentheses set at random.
template <typename F>
GridSum somehow(std::vector<GridSum> sums, Random& random) {
  while (sums.size() > 1) {
    const auto i = static_cast<std::size_t>(random.below(sums.size()));
    std::swap(sums[i], sums.back());
    const GridSum one = sums.back();
    sums.pop_back();
    sums[static_cast<std::size_t>(random.below(sums.size()))].add(one);
  }
  return sums.front();
}

// Any double at all: also subnormal ones, but finite.
double any_double(Random& random) {
  for (;;) {
    const double number = std::bit_cast<double>(random.next());
    if (std::isfinite(number)) return number;
  }
}

double double_near_one(Random& random) {
  return std::ldexp(static_cast<double>(static_cast<std::int64_t>(random.next())),
                    static_cast<int>(random.below(80)) - 100);
}

}  // namespace

TEST_CASE_TEMPLATE("a number alone is its own sum", F, float, double, long double) {
  using Limits = std::numeric_limits<F>;
  for (const F number : {F(0), F(1), F(-1), F(0.1), F(1) / 3, Limits::max(), Limits::lowest(),
                         Limits::min(), Limits::denorm_min(), -Limits::denorm_min()})
    CHECK(GridSum(number).value<F>() == number);
  CHECK(GridSum(Limits::infinity()).value<F>() == Limits::infinity());
  CHECK(GridSum(-Limits::infinity()).value<F>() == -Limits::infinity());
  CHECK(std::isnan(GridSum(Limits::quiet_NaN()).value<F>()));
}

TEST_CASE("any double alone is its own sum") {
  Random random(1);
  for (int i = 0; i < 100000; ++i) {
    const double number = any_double(random);
    REQUIRE(GridSum(number).value<double>() == number);
  }
}

TEST_CASE("the bits do not depend on order and parentheses") {
  Random random(2);
  for (int round = 0; round < 2000; ++round) {
    std::vector<GridSum> sums;
    const int count = 1 + static_cast<int>(random.below(40));
    for (int i = 0; i < count; ++i)
      sums.emplace_back(round % 2 == 0 ? any_double(random) : double_near_one(random));
    const auto bits_of = [&](std::vector<GridSum> some) {
      return std::bit_cast<std::uint64_t>(somehow<double>(std::move(some), random).value<double>());
    };
    REQUIRE(bits_of(sums) == bits_of(sums));
  }
}

TEST_CASE("a plain sum of the same numbers does depend on it") {
  CHECK((0.1 + 0.2) + 0.3 != 0.1 + (0.2 + 0.3));
  CHECK(sum_of<double>({0.1, 0.2, 0.3}) == sum_of<double>({0.3, 0.2, 0.1}));
}

TEST_CASE("small numbers survive beside large ones that cancel") {
  CHECK(sum_of<double>({1e20, 1.0, -1e20}) == 1.0);
  CHECK(sum_of<double>({1.0, 1e20, 1.0, -1e20}) == 2.0);
  CHECK(sum_of<float>({1e10f, 1.0f, -1e10f}) == 1.0f);
}

TEST_CASE("whole numbers are summed exactly") {
  Random random(3);
  std::vector<double> numbers;
  std::int64_t expected = 0;
  for (int i = 0; i < 10000; ++i) {
    const auto number =
        static_cast<std::int64_t>(random.below(std::uint64_t{1} << 36)) - (std::int64_t{1} << 35);
    expected += number;
    numbers.push_back(static_cast<double>(number));
  }
  CHECK(sum_of(numbers) == static_cast<double>(expected));
}

TEST_CASE("the error is far below that of a plain sum") {
  Random random(4);
  std::vector<double> numbers;
  long double expected = 0;  // of the same magnitude: eleven bits more are enough
  for (int i = 0; i < 1000; ++i) {
    numbers.push_back(1 + std::ldexp(static_cast<double>(random.next() >> 11), -53));
    expected += static_cast<long double>(numbers.back());
  }
  CHECK(sum_of(numbers) == static_cast<double>(expected));
}

TEST_CASE("infinities and what is no number come through") {
  const double infinity = std::numeric_limits<double>::infinity();
  CHECK(sum_of<double>({1, infinity, 2}) == infinity);
  CHECK(sum_of<double>({1, -infinity, 2}) == -infinity);
  CHECK(std::isnan(sum_of<double>({infinity, -infinity})));
  CHECK(std::isnan(sum_of<double>({1, std::numeric_limits<double>::quiet_NaN()})));
}

TEST_CASE("a sum that is too large is infinite") {
  const double largest = std::numeric_limits<double>::max();
  CHECK(sum_of<double>({largest, largest}) == std::numeric_limits<double>::infinity());
  CHECK(sum_of<double>({largest, largest, -largest}) == largest);
}
