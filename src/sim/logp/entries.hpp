// When each process enters the operation: process imbalance.
//
// FTCO, section 5.2.4: arrival times drawn from a uniform or a normal distribution, the spread
// being the time between the earliest and the latest there may be. Thread rule: pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/time.hpp"

namespace resprout::sim {

struct Entries {
  enum class Kind : std::uint8_t { together, uniform, normal };
  Kind kind = Kind::together;
  Duration spread = 0;

  // One time a process, from 0 to spread - 1; nothing if all enter together. The normal one has its
  // mean in the middle and a tenth of the spread as deviation: 5 deviations to each side, and what
  // lies farther out, one in 1.7 million, is drawn again.
  std::vector<Time> draw(std::int32_t procs, std::uint64_t seed) const;
};

// none | uniform:S | normal:S, with S >= 1. The error is one line.
std::variant<Entries, std::string> parse_entries(std::string_view text);

}  // namespace resprout::sim
