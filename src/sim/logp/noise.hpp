// Noise of the machine: what a receive takes longer than o, by chance.
//
// The extra time is exponential, cut to whole ticks: k ticks have the probability (1 - p) p^k, and
// p follows from the mean. Every process has the same mean, and each receive draws anew.
// Thread rule: values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "core/random.hpp"
#include "core/time.hpp"

namespace resprout::sim {

// The mean in thousandths of a tick; 0: there is none.
using NoiseMean = std::int32_t;
inline constexpr NoiseMean noise_max = 1'000'000;

// none | MEAN, a decimal number of ticks with three digits behind the point at most. The error is
// one line.
std::variant<NoiseMean, std::string> parse_noise(std::string_view text);

class Noise {
 public:
  // REQUIRES: 0 <= mean <= noise_max.
  constexpr Noise(NoiseMean mean, std::uint64_t seed)
      : random_(seed),
        share_(2'147'483'648ull * static_cast<std::uint64_t>(mean) /
               (1000ull + static_cast<std::uint64_t>(mean))) {}

  constexpr bool is_on() const { return share_ > 0; }
  constexpr Duration draw() {
    Duration extra = 0;
    while ((random_.next() >> 33) < share_) ++extra;
    return extra;
  }

 private:
  Random random_;
  std::uint64_t share_;  // p, of 2^31
};

}  // namespace resprout::sim
