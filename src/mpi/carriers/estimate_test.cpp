#include "mpi/carriers/estimate.hpp"

#include <functional>
#include <numeric>

#include "doctest/doctest.h"

using namespace resprout::shim;

namespace {

double estimate(const std::vector<double>& weights, const std::function<double(double)>& given) {
  double sum = 0;
  for (std::size_t i = 0; i < weights.size(); ++i)
    sum += weights[i] * given(static_cast<double>(i));
  return sum;
}

}  // namespace

TEST_CASE("a line goes on as it went, however many contributions are missing") {
  const auto line = [](double x) { return 3 - 2 * x; };
  for (std::size_t count = 2; count <= remembered_max; ++count)
    for (std::size_t steps = 1; steps < 20; ++steps)
      CHECK(estimate(linear_weights(count, steps), line) ==
            doctest::Approx(line(static_cast<double>(count - 1 + steps))));
}

TEST_CASE("two contributions are a line, and one is all that there is to know") {
  CHECK(linear_weights(2, 1) == std::vector<double>{-1, 2});
  CHECK(linear_weights(1, 5) == std::vector<double>{1});
  CHECK(mean_weights(4) == std::vector<double>{0.25, 0.25, 0.25, 0.25});
}

TEST_CASE("of what is no line it is the one with the least squares") {
  // Of 0, 1, 0, 1 the slope is 1/5, and the middle 1/2.
  const auto teeth = [](double x) { return x == 1 || x == 3 ? 1.0 : 0.0; };
  CHECK(estimate(linear_weights(4, 1), teeth) == doctest::Approx(0.5 + 0.2 * 2.5));
}
