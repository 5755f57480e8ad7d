#include "sim/logp/noise.hpp"

#include <vector>

#include "doctest/doctest.h"

namespace resprout::sim {
namespace {

NoiseMean mean_of(std::string_view text) {
  const auto parsed = parse_noise(text);
  const auto* mean = std::get_if<NoiseMean>(&parsed);
  return mean == nullptr ? -1 : *mean;
}

TEST_CASE("noise is none or a mean in ticks") {
  CHECK(mean_of("none") == 0);
  CHECK(mean_of("0.5") == 500);
  CHECK(mean_of("0.001") == 1);
  CHECK(mean_of("12.25") == 12'250);
  CHECK(mean_of("1000") == 1'000'000);
}

TEST_CASE("other noise is refused with what is valid") {
  for (const char* text :
       {"", "0", "0.0", ".5", "1.", "-1", "1000.001", "0.0001", "1e3", "0.5 ", "123456", "all"}) {
    CAPTURE(text);
    CHECK(mean_of(text) == -1);
  }
}

TEST_CASE("what is drawn has the mean and the distribution that were asked for") {
  for (const NoiseMean mean : {100, 500, 4000}) {
    Noise noise(mean, 7);
    constexpr int draws = 200'000;
    const double expected = mean / 1000.0;
    double sum = 0;
    int zeros = 0;
    for (int i = 0; i < draws; ++i) {
      const Duration extra = noise.draw();
      sum += static_cast<double>(extra);
      zeros += extra == 0;
    }
    CHECK(sum / draws == doctest::Approx(expected).epsilon(0.02));
    CHECK(static_cast<double>(zeros) / draws == doctest::Approx(1 / (1 + expected)).epsilon(0.02));
  }
}

TEST_CASE("equal seeds draw alike, and without noise nothing is on") {
  Noise one(500, 3);
  Noise other(500, 3);
  for (int i = 0; i < 1000; ++i) CHECK(one.draw() == other.draw());
  CHECK(!Noise(0, 3).is_on());
}

}  // namespace
}  // namespace resprout::sim
