// What one process has heard of the copies of a message, and what follows from it.
//
// Invariants
//  1. The first thing heard of an origin stays; what contradicts it is noticed, and counts for
//     nothing.
//  2. Two origins that agree are right as long as one thing is corrupted. A wrong digest is said
//     under one origin only, no matter which processes pass it on.
// Thread rule: a value.
#pragma once

#include <array>
#include <cstdint>

#include "protocols/digest_vote/message.hpp"

namespace resprout::protocols {

class Opinions {
 public:
  bool has_heard(std::int32_t origin) const { return (heard_ >> origin & 1) != 0; }
  // Bit i: something was heard of origin i.
  std::uint32_t heard() const { return heard_; }
  const std::array<std::uint64_t, degree_max>& digests() const { return digests_; }
  // Whether any two things that were heard contradict each other.
  bool differ() const { return differ_ != 0; }

  void learn(std::int32_t origin, std::uint64_t digest) {
    for (std::int32_t other = 0; other < degree_max; ++other)
      if (has_heard(other) && at(other) != digest) differ_ = 1;
    if (has_heard(origin)) return;
    heard_ |= bit(origin);
    digests_[static_cast<std::size_t>(origin)] = digest;
  }

  // Whether this is what was heard of `origin` first.
  bool matches(std::int32_t origin, std::uint64_t digest) const {
    return has_heard(origin) && at(origin) == digest;
  }
  // Bit i: origin i says `digest`.
  std::uint32_t agreeing(std::uint64_t digest) const {
    std::uint32_t set = 0;
    for (std::int32_t origin = 0; origin < degree_max; ++origin)
      if (matches(origin, digest)) set |= bit(origin);
    return set;
  }
  // The lowest origin of two that agree; -1: no two do.
  std::int32_t majority() const {
    for (std::int32_t origin = 0; origin < degree_max; ++origin)
      if (has_heard(origin) && (agreeing(at(origin)) & ~bit(origin)) != 0) return origin;
    return -1;
  }
  std::uint64_t at(std::int32_t origin) const { return digests_[static_cast<std::size_t>(origin)]; }

  static constexpr std::uint32_t bit(std::int32_t origin) { return 1U << origin; }

 private:
  std::array<std::uint64_t, degree_max> digests_{};
  std::uint32_t heard_ = 0;
  std::uint32_t differ_ = 0;
};

}  // namespace resprout::protocols
