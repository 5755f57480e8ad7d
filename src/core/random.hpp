// The one random number generator: the same numbers on every compiler and machine.
//
// splitmix64 seeds and hashes; xoshiro256** generates (Blackman and Vigna, "Scrambled linear
// pseudorandom number generators", 2018). No standard-library distribution is used anywhere.
#pragma once

#include <cstdint>

namespace resprout {

constexpr std::uint64_t splitmix64(std::uint64_t& state) {
  std::uint64_t z = (state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

class Random {
 public:
  explicit constexpr Random(std::uint64_t seed) {
    for (auto& word : words_) word = splitmix64(seed);
  }

  constexpr std::uint64_t next() {
    const std::uint64_t out = rotate(words_[1] * 5, 7) * 9;
    const std::uint64_t t = words_[1] << 17;
    words_[2] ^= words_[0];
    words_[3] ^= words_[1];
    words_[1] ^= words_[2];
    words_[0] ^= words_[3];
    words_[2] ^= t;
    words_[3] = rotate(words_[3], 45);
    return out;
  }

  // Uniform in 0 .. bound-1, without bias. REQUIRES: bound > 0.
  constexpr std::uint64_t below(std::uint64_t bound) {
    const std::uint64_t threshold = (0 - bound) % bound;
    for (;;) {
      const std::uint64_t value = next();
      if (value >= threshold) return value % bound;
    }
  }

  // True in `numerator` of `denominator` cases.
  constexpr bool chance(std::uint64_t numerator, std::uint64_t denominator) {
    return below(denominator) < numerator;
  }

 private:
  static constexpr std::uint64_t rotate(std::uint64_t x, int by) {
    return (x << by) | (x >> (64 - by));
  }
  std::uint64_t words_[4] = {};
};

// The same in one word, for machines that leave something to chance: splitmix64 alone.
class SmallRandom {
 public:
  explicit constexpr SmallRandom(std::uint64_t seed) : state_(seed) {}

  // Uniform in 0 .. bound-1, without bias. REQUIRES: bound > 0.
  constexpr std::uint32_t below(std::uint32_t bound) {
    const std::uint32_t threshold = (0 - bound) % bound;
    for (;;) {
      const std::uint64_t product = (splitmix64(state_) >> 32) * bound;
      if (static_cast<std::uint32_t>(product) >= threshold)
        return static_cast<std::uint32_t>(product >> 32);
    }
  }

 private:
  std::uint64_t state_;
};

}  // namespace resprout
