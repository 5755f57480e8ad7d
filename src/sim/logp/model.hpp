// The LogP machine that is simulated, and the digest of what happens on it.
//
// Corrected Trees, section 2.2. Times are in ticks.
// Thread rule: values.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/time.hpp"
#include "sim/logp/noise.hpp"

namespace resprout::sim {

struct LogP {
  Duration latency = 2;   // L, >= 0
  Duration overhead = 1;  // o, >= 1
  Duration gap = 0;       // g, >= 0; <= o means that it never binds
  NoiseMean noise = 0;    // what a receive takes longer, on average: thousandths of a tick

  // A message without contention: from the start of its send to the end of its receive.
  constexpr Duration hop() const { return 2 * overhead + latency; }
  // Between the starts of two sends, or two receives, of one process.
  constexpr Duration spacing() const { return std::max(overhead, gap); }
};

// A hash over the sequence of all that happens: equal runs have equal digests, on every compiler.
class Digest {
 public:
  void add(std::uint64_t word) { state_ = (rotate(state_, 23) ^ word) * 0x9e3779b97f4a7c15u; }
  std::uint64_t value() const { return state_ ^ (state_ >> 32); }

 private:
  static constexpr std::uint64_t rotate(std::uint64_t x, int by) {
    return (x << by) | (x >> (64 - by));
  }
  std::uint64_t state_ = 0x243f6a8885a308d3u;
};

}  // namespace resprout::sim
